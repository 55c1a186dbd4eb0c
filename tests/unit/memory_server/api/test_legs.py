"""Every leg of every read has the same limits: a secret of others comes back by none of them."""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from memory_server.api.families import API, FLAT, PROJECT
from memory_server.app import create_app
from memory_server.application import Application
from memory_server.bootstrap import join
from memory_server.domain.candidate import Candidate
from memory_server.domain.job import JobKind
from memory_server.providers.reranking.guarded import GuardedReranker
from tests.clock import START, ManualClock
from tests.factories import a_fact, a_job, a_proposal
from tests.rerankers import LastFirst
from tests.unit.memory_server.api.application import PROJECT as SHOP
from tests.unit.memory_server.api.application import an_application
from tests.unit.memory_server.api.callers import OWNER, a_project, an_account
from tests.unit.memory_server.api.legs import (
    EXACTLY_WITHOUT_MEMORY,
    KINDS,
    LEGS,
    NO_LEGS,
    SECRETS,
    WITHOUT_MEMORY,
    Leg,
)

SOURCES = (*KINDS, "short_term")


@dataclass(frozen=True)
class World:
    """A server that holds three secrets, and the ids of what holds them."""

    client: httpx.AsyncClient
    application: Application
    ids: Mapping[str, str]


def bodies(secret: str) -> dict[str, dict[str, Any]]:
    """Return one of everything that says a secret, in every field that is shown."""
    said = f"the vault code is {secret}"
    own = {"metadata": {"tier": "gold", "note": secret}}
    return {
        "semantic": {"label": f"vault {secret}", "text": said} | own,
        "episodic": {"title": secret, "content": said, "session_id": "s"} | own,
        "taxonomic": {"domain": f"vaults {secret}", "term": secret, "definition": said} | own,
        "procedural": {"procedure": secret, "description": said, "content": said} | own,
        "turns": {"session_id": "s", "role": "user", "content": said} | own,
        "blocks": {
            "conversation_id": "s",
            "messages": [{"role": "user", "content": said, "id": secret}],
            "annotations": {"note": secret},
        }
        | own,
    }


async def tell(client: httpx.AsyncClient, root: str, who: str, user_id: str) -> dict[str, str]:
    """Save a secret in every form; return the ids by kind."""
    ids = {}
    for kind, body in bodies(SECRETS[who]).items():
        saved = await client.post(f"{root}/{kind}", json=body | {"user_id": user_id}, headers=OWNER)
        assert saved.status_code == 201, saved.text
        answer = saved.json()
        ids[f"{who}-{kind}"] = answer.get("id", "")
        for exchange in answer.get("exchanges", ()):
            ids[f"{who}-block"] = exchange["blocks"][0]["id"]
    return ids


async def tell_records(client: httpx.AsyncClient, bank: str) -> None:
    """Save a record of nobody's in each project, and one of Bob's."""
    bob = await an_account(client)
    for root, who, headers in ((FLAT, "ana", {}), (FLAT, "bob", bob), (bank, "bank", OWNER)):
        body = {"content": f"the vault code is {SECRETS[who]}"}
        saved = await client.post(f"{root}/types/vault", json=body, headers=headers)
        assert saved.status_code == 201, saved.text


async def propose(application: Application, project_id: str, who: str, user_id: str) -> str:
    """Have a fact wait for a decision; return its id."""
    store = application.store
    await store.jobs.enqueue([a_job(project_id=project_id, user_id=user_id)])
    job = await store.jobs.claim(
        worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=START + timedelta(hours=1)
    )
    assert job is not None
    said = Candidate(body=a_fact(text=f"the vault code is {SECRETS[who]}"), turn_ids=("turn",))
    made = a_proposal(project_id=project_id, user_id=user_id, candidate=said)
    await store.proposals.add(project_id, [made], settling=job)
    return made.id


def a_server(directory: Path, clock: ManualClock) -> Application:
    """Return a server in which every leg is indexed, with a reranker."""
    made = an_application(
        directory,
        clock,
        extraction={"enabled": []},
        metadata_partition_index={source: ["both"] for source in SOURCES},
        custom_memory_types=[{"name": "vault", "collection": "vaults"}],
    )
    providers = replace(made.providers, reranker=GuardedReranker(LastFirst()))
    return join(made.settings, store=made.store, providers=providers, clock=clock)


@pytest.fixture
async def world(tmp_path: Path, clock: ManualClock) -> AsyncIterator[World]:
    application = a_server(tmp_path, clock)
    await application.store.open()
    transport = httpx.ASGITransport(create_app(application))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        bank_id = await a_project(client)
        bank = PROJECT.format(project_id=bank_id)
        ids = await tell(client, FLAT, "ana", "ana")
        ids |= await tell(client, FLAT, "bob", "bob")
        ids |= await tell(client, bank, "bank", "ana")
        await tell_records(client, bank)
        for project_id, who, user_id in (
            (SHOP, "ana", "ana"),
            (SHOP, "bob", "bob"),
            (bank_id, "bank", "ana"),
        ):
            ids[f"{who}-proposal"] = await propose(application, project_id, who, user_id)
        yield World(client, application, ids)
    await application.close()


async def ask(world: World, leg: Leg) -> httpx.Response:
    method, route = leg.route.split(" ")
    path = leg.path or route
    for name, found in {**world.ids, "project_id": SHOP}.items():
        path = path.replace(f"{{{name}}}", found)
    flat = FLAT if not path.startswith(("/admin", "/projects", "/invoke")) else API
    return await world.client.request(
        method,
        path if path.startswith("/invoke") else f"{flat}{path}",
        json=leg.body if leg.body is None else dict(leg.body) | {"include_memories": True},
        params=dict(leg.params),
        headers=OWNER if leg.as_owner else {},
    )


async def test_no_leg_brings_back_a_secret_of_others(world: World) -> None:
    for leg in LEGS:
        answer = await ask(world, leg)

        assert answer.status_code == (200 if leg.finds else 404), (leg, answer.text)
        assert (SECRETS["ana"] in answer.text) is leg.finds, (leg, answer.text)
        assert SECRETS["bob"] not in answer.text, leg
        assert SECRETS["bank"] not in answer.text, leg


async def test_without_a_user_a_leg_is_still_the_projects(world: World) -> None:
    """Nobody named means everybody of the project; never anybody of another."""
    for leg in LEGS:
        if leg.body is not None:
            leg = replace(leg, body={**leg.body, "user_id": ""})
        leg = replace(leg, params={**leg.params, "user_id": ""})

        assert SECRETS["bank"] not in (await ask(world, leg)).text, leg


@pytest.mark.parametrize("user_id", ["ghost", "*", "%", "ANA", "ana' OR 'a'='a", "an_", '["ana"]'])
async def test_a_user_who_has_nothing_gets_nothing(world: World, user_id: str) -> None:
    for leg in LEGS:
        if leg.body is not None and "user_id" in leg.body:
            answer = await ask(world, replace(leg, body={**leg.body, "user_id": user_id}))

            assert not [one for one in SECRETS.values() if one in answer.text], (leg, answer.text)


def routes(application: Application) -> set[str]:
    """Return every operation of the server, those of the three families once."""
    found = set()
    for route in iter_route_contexts(create_app(application).routes):
        path = str(route.path_format)
        for prefix in (PROJECT, FLAT, API):
            path = path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path
        found |= {f"{method} {path}" for method in route.methods or () if method != "HEAD"}
    return found


def is_without_memory(route: str) -> bool:
    path = route.partition(" ")[2].removeprefix("/projects/{project_id}/admin")
    path = path if path == route.partition(" ")[2] else f"/admin{path}"
    begins = re.match("|".join(f"{re.escape(one)}(?:/|$)" for one in WITHOUT_MEMORY), path)
    return begins is not None or path in EXACTLY_WITHOUT_MEMORY


def test_every_route_is_asked_or_is_known_to_be_no_leg(tmp_path: Path, clock: ManualClock) -> None:
    known = {leg.route for leg in LEGS} | {route for some in NO_LEGS.values() for route in some}
    known = {re.sub(r"\{\w+\}", "{}", route) for route in known}

    new = {
        route
        for route in routes(an_application(tmp_path, clock))
        if not is_without_memory(route) and re.sub(r"\{\w+\}", "{}", route) not in known
    }

    assert new == set(), "make each a leg, or say why it is none"
