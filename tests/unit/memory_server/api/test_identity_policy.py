"""Whose memory a call may name: every memory route is asked, whatever is added to them."""

import re
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from memory_server.api.families import FAMILIES, MEMORY_ROUTERS
from memory_server.application import Application
from memory_server.domain.account import PrincipalKind
from memory_server.domain.execution import MemoryIdentity
from tests.unit.memory_server.api.application import PROJECT
from tests.unit.memory_server.api.callers import (
    OWNER,
    a_person,
    a_project,
    an_account,
    enforce_identity,
)

EXECUTION = "X-Agent-Engine-Execution-Id"
EVERYTHING: dict[str, Any] = {
    "session_id": "monday",
    "role": "user",
    "content": "x",
    "query": "x",
    "type": "semantic",
    "sources": [{"source": "semantic"}],
    "conversation_id": "x",
    "messages": [{"role": "user", "content": "x"}],
    "label": "x",
    "text": "x",
    "title": "x",
    "domain": "x",
    "term": "x",
    "definition": "x",
    "procedure": "x",
    "description": "x",
}
"""A body that is complete for every memory route: unknown fields are ignored."""

OF_NOBODY = {"/queueStats", "/worker/queueStats"}
"""They hold no memory: numbers of the whole server."""
OF_THE_CALLER = {"/types/x", "/types/x/retrieve"}
"""Nobody is named there: records are the caller's own."""


OF_REVIEW = re.compile("/proposals(/.*)?")
"""Whoever decides on proposals does so from outside, and is nobody's agent."""


def routes() -> list[tuple[str, str]]:
    """Return method and path, behind any prefix, of every memory route."""
    found = []
    for router in MEMORY_ROUTERS:
        assert isinstance(router, APIRouter)
        for route in router.routes:
            path = re.sub(r"{\w+}", "x", route.path)  # type: ignore[attr-defined]
            found += [(method, path) for method in route.methods]  # type: ignore[attr-defined]
    return sorted(set(found))


NAMING = [
    (method, path)
    for method, path in routes()
    if path not in OF_NOBODY | OF_THE_CALLER and not OF_REVIEW.fullmatch(path)
]
PREFIXES = [prefix.format(project_id=PROJECT) for prefix in FAMILIES]


@pytest.fixture(params=PREFIXES)
def prefix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def call(
    client: httpx.AsyncClient, method: str, path: str, headers: dict[str, str], **named: str
) -> httpx.Response:
    if method in ("GET", "DELETE"):
        return await client.request(method, path, params=named, headers=headers)
    return await client.request(method, path, json=EVERYTHING | named, headers=headers)


async def refusals(
    client: httpx.AsyncClient, prefix: str, headers: dict[str, str], **named: str
) -> dict[tuple[str, str], tuple[int, str]]:
    """Return what each route that names users answers."""
    found = {}
    for method, path in NAMING:
        answer = await call(client, method, prefix + path, headers, **named)
        code = answer.json().get("code", "") if answer.content else ""
        if answer.status_code >= 400 and code.startswith("IDENTITY"):
            assert "user_id" in answer.json()["error"], (method, path)
        found[method, path] = (answer.status_code, code)
    return found


def test_every_memory_route_is_asked() -> None:
    assert len(NAMING) > 20
    assert {path for _, path in routes()} >= OF_NOBODY | OF_THE_CALLER


async def test_inside_an_execution_every_route_wants_somebody_named(
    client: httpx.AsyncClient, prefix: str
) -> None:
    found = await refusals(client, prefix, OWNER | {EXECUTION: "unknown"})

    assert set(found.values()) == {(400, "IDENTITY_MISSING")}


async def test_inside_an_execution_nothing_is_reviewed(
    client: httpx.AsyncClient, application: Application, prefix: str
) -> None:
    of_review = [one for one in routes() if OF_REVIEW.fullmatch(one[1])]
    assert len(of_review) == 7
    for headers in (OWNER | {EXECUTION: "unknown"}, OWNER | await an_execution_of_ana(application)):
        for method, path in of_review:
            answer = await call(client, method, prefix + path, headers, user_id="ana")
            assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN"), path


@pytest.mark.parametrize("path", sorted(OF_THE_CALLER))
async def test_inside_an_unknown_execution_no_record_is_anybodys(
    client: httpx.AsyncClient, prefix: str, path: str
) -> None:
    answer = await call(client, "POST", prefix + path, OWNER | {EXECUTION: "unknown"})

    assert (answer.status_code, answer.json()["code"]) == (400, "IDENTITY_MISSING")


async def an_execution_of_ana(application: Application, project: str = PROJECT) -> dict[str, str]:
    execution = await application.executions.begin(
        project_id=project,
        identity=MemoryIdentity(kind=PrincipalKind.OWNER, user_id="ana"),
        session_id="monday",
        workspace="default",
    )
    return {EXECUTION: execution.id}


async def test_inside_an_execution_of_ana_no_route_lets_bob_be_named(
    client: httpx.AsyncClient, application: Application, prefix: str
) -> None:
    headers = OWNER | await an_execution_of_ana(application)

    found = await refusals(client, prefix, headers, user_id="bob")

    assert set(found.values()) == {(403, "IDENTITY_REFUSED")}


async def test_inside_an_execution_of_ana_she_is_named_everywhere(
    client: httpx.AsyncClient, application: Application, prefix: str
) -> None:
    headers = OWNER | await an_execution_of_ana(application)

    found = await refusals(client, prefix, headers, user_id="ana")

    assert {status for status, _ in found.values()} <= {200, 201, 404}


async def test_an_execution_of_another_project_is_an_unknown_one(
    client: httpx.AsyncClient, application: Application, prefix: str
) -> None:
    headers = OWNER | await an_execution_of_ana(application, await a_project(client))

    found = await refusals(client, prefix, headers, user_id="bob")

    assert {status for status, _ in found.values()} <= {200, 201, 404}


async def test_where_identity_is_enforced_no_route_lets_a_person_name_another(
    client: httpx.AsyncClient, prefix: str
) -> None:
    headers = await a_person(client, "ana")
    await enforce_identity(client)

    found = await refusals(client, prefix, headers, user_id="bob", visibility="org")

    assert set(found.values()) == {(403, "IDENTITY_REFUSED")}


async def test_where_identity_is_enforced_a_person_is_themselves_on_every_route(
    client: httpx.AsyncClient, prefix: str
) -> None:
    headers = await a_person(client, "ana")
    await enforce_identity(client)

    found = await refusals(client, prefix, headers)

    assert {status for status, _ in found.values()} <= {200, 201, 404}
    stored = await client.get(f"{prefix}/semantic", headers=OWNER)
    assert [entry["user_id"] for entry in stored.json()["entries"]] == ["ana"]


async def test_where_identity_is_enforced_a_service_account_names_whom_it_likes(
    client: httpx.AsyncClient, prefix: str
) -> None:
    headers = await an_account(client)
    await enforce_identity(client)

    found = await refusals(client, prefix, headers, user_id="bob")

    assert {status for status, _ in found.values()} <= {200, 201, 404}


FACT = {"label": "home", "text": "Bob lives in Lisbon", "user_id": "bob", "visibility": "org"}
STEPS = {"procedure": "p", "description": "d", "content": "c", "user_id": "bob"}


async def saved(client: httpx.AsyncClient, kind: str, body: dict[str, str], project: str) -> str:
    path = f"/api/v1/projects/{project}/memory/{kind}"
    return str((await client.post(path, json=body, headers=OWNER)).json()["id"])


BY_ID = [
    ("GET", "semantic", FACT),
    ("PATCH", "semantic", FACT),
    ("GET", "procedural", STEPS),
    ("PATCH", "procedural", STEPS),
    ("DELETE", "procedural", STEPS),
]


@pytest.mark.parametrize(("method", "kind", "body"), BY_ID)
async def test_a_memory_of_another_project_is_not_found_by_its_id(
    client: httpx.AsyncClient, method: str, kind: str, body: dict[str, str]
) -> None:
    bank = await a_project(client)
    memory_id = await saved(client, kind, body, PROJECT)

    for headers in (OWNER, await an_account(client, "PROJECT_OWNER", bank)):
        path = f"/api/v1/projects/{bank}/memory/{kind}/{memory_id}"
        answer = await call(client, method, path, headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "MEMORY_NOT_FOUND")


async def test_the_history_of_a_memory_of_another_project_is_not_found(
    client: httpx.AsyncClient,
) -> None:
    bank = await a_project(client)
    memory_id = await saved(client, "semantic", FACT, PROJECT)

    path = f"/api/v1/projects/{bank}/admin/memories/{memory_id}/history"
    answer = await client.get(path, headers=await an_account(client, "PROJECT_OWNER", bank))

    assert (answer.status_code, answer.json()["code"]) == (404, "MEMORY_NOT_FOUND")


@pytest.mark.parametrize(("method", "kind", "body"), BY_ID)
@pytest.mark.parametrize(("named", "status"), [({}, 404), ({"user_id": "bob"}, 403)])
async def test_where_identity_is_enforced_anothers_memory_is_not_reached_by_its_id(
    client: httpx.AsyncClient,
    method: str,
    kind: str,
    body: dict[str, str],
    named: dict[str, str],
    status: int,
) -> None:
    memory_id = await saved(client, kind, body, PROJECT)
    headers = await a_person(client, "ana")
    await enforce_identity(client)

    path = f"/api/v1/projects/{PROJECT}/memory/{kind}/{memory_id}"
    answer = await call(client, method, path, headers, **named)

    assert answer.status_code == status
    left = await client.get(path, headers=OWNER)
    assert left.json()["user_id"] == "bob"


@pytest.mark.parametrize("named", [{}, {"user_id": "bob"}])
async def test_where_identity_is_enforced_an_owner_of_the_project_may_delete(
    client: httpx.AsyncClient, named: dict[str, str]
) -> None:
    memory_id = await saved(client, "procedural", STEPS, PROJECT)
    headers = await a_person(client, "ana", "PROJECT_OWNER")
    await enforce_identity(client)

    path = f"/api/v1/projects/{PROJECT}/memory/procedural/{memory_id}"
    changed = await call(client, "PATCH", path, headers)
    deleted = await call(client, "DELETE", path, headers, **named)

    assert (changed.status_code, deleted.json()["deleted_count"]) == (404, 1)


async def test_where_identity_is_enforced_what_all_may_see_is_read_by_its_visibility(
    client: httpx.AsyncClient,
) -> None:
    await saved(client, "semantic", FACT, PROJECT)
    await saved(client, "semantic", FACT | {"label": "b", "visibility": "private"}, PROJECT)
    headers = await a_person(client, "ana")
    await enforce_identity(client)

    async def texts(**named: str) -> int:
        path = "/api/v1/memory/semantic"
        return len((await client.get(path, params=named, headers=headers)).json()["entries"])

    assert (await texts(), await texts(visibility="org")) == (0, 1)
    assert await texts(visibility="private") == 0


async def test_the_records_of_an_enforced_person_are_their_own(
    client: httpx.AsyncClient, application: Application
) -> None:
    headers = await a_person(client, "bob") | await an_execution_of_ana(application)
    await enforce_identity(client)

    answer = await client.post("/api/v1/memory/types/x", json={"content": "c"}, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "IDENTITY_REFUSED")


async def test_what_is_said_in_one_project_is_learned_in_that_one_only(
    client: httpx.AsyncClient, application: Application
) -> None:
    bank = await a_project(client)
    said = {PROJECT: "I live in Lisbon.", bank: "I live in Oslo."}
    for project, content in said.items():
        turn = {"session_id": "monday", "role": "user", "content": content, "user_id": "ana"}
        path = f"/api/v1/projects/{project}/memory/turns"
        assert (await client.post(path, json=turn, headers=OWNER)).json()["turn_seq"] == 1
        flush = f"/api/v1/projects/{project}/admin/flush"
        assert (await client.post(flush, json={}, headers=OWNER)).json()["snapshots"] == 1

    assert await application.runner.run_until_idle() == 2 * len(application.settings.memory.enabled)

    for project, city in ((PROJECT, "Lisbon"), (bank, "Oslo")):
        path = f"/api/v1/projects/{project}/memory/semantic"
        entries = (await client.get(path, headers=OWNER)).json()["entries"]
        assert [city in entry["text"] for entry in entries] == [True]
        assert {entry["project_id"] for entry in entries} == {project}
