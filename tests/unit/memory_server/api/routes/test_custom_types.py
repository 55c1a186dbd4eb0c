from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.bootstrap import join
from memory_server.domain.account import AccountRole, PrincipalKind
from memory_server.domain.custom_type import NOT_ENABLED, UNKNOWN
from memory_server.domain.execution import MemoryIdentity
from memory_server.services.service_accounts import NewAccount
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import PROJECT, an_application

TYPES = "/api/v1/memory/types"
DECLARED = [
    {
        "name": "ticket",
        "collection": "tickets",
        "tags": [{"name": "plant"}, {"name": "size"}, {"name": "place.city"}],
    },
    {"name": "note", "collection": "notes"},
]
FAMILIES = ["/api/v1/memory", "/api/v1/projects/shop/memory", "/api/v1"]
CALLS = [("{}", {"content": "c"}), ("{}/retrieve", {"query": "q"})]


@pytest.fixture
async def application(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Application]:
    joined = an_application(tmp_path, clock, custom_memory_types=DECLARED)
    await joined.store.open()
    yield joined
    await joined.close()


async def save(client: httpx.AsyncClient, content: str, **body: Any) -> httpx.Response:
    headers = body.pop("headers", {})
    return await client.post(f"{TYPES}/ticket", json={"content": content, **body}, headers=headers)


async def found(
    client: httpx.AsyncClient, query: str = "pump", kind: str = "ticket", **body: Any
) -> list[Any]:
    headers = body.pop("headers", {})
    answer = await client.post(
        f"{TYPES}/{kind}/retrieve", json={"query": query, **body}, headers=headers
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["count"] == len(answer.json()["results"])
    return list(answer.json()["results"])


async def an_account(application: Application, role: AccountRole) -> tuple[dict[str, str], str]:
    """Make a service account, and return its headers and its id."""
    accounts = application.service_accounts
    made = await accounts.create(PROJECT, NewAccount(name="bot", role=role))
    token = await accounts.issue_token(made.account.client_id, made.client_secret)
    return {"Authorization": f"Bearer {token}"}, made.account.client_id


def test_the_phrases_are_those_that_clients_look_for() -> None:
    assert NOT_ENABLED == "custom_memory_types is not enabled"
    assert UNKNOWN.format("x") == "unknown custom memory type 'x'"


async def test_a_record_comes_back_as_it_was_saved(client: httpx.AsyncClient) -> None:
    context = {"free": [1, {"x": None}], "$gt": {"": ""}}
    saved = await save(
        client, "the pump leaks", tags={"plant": "north", "size": 7}, contextual_metadata=context
    )

    (record,) = await found(client)

    assert saved.status_code == 201
    tags = {"plant": "north", "size": 7}
    record_id = record["id"]
    assert saved.json() == {"id": record_id, "type": "ticket", "tags": tags, "has_embedding": True}
    assert 0 < record.pop("score") <= 1
    assert record == {
        "id": record_id,
        "type": "ticket",
        "content": "the pump leaks",
        "tags": tags,
        "contextual_metadata": context,
        "user_id": None,
        "agent_id": None,
    }


async def test_the_better_find_comes_first_and_the_number_is_kept(
    client: httpx.AsyncClient,
) -> None:
    for content in ("a valve was oiled", "the pump leaks", "the pump"):
        await save(client, content)

    assert [one["content"] for one in await found(client, "the pump leaks", top_k=2)] == [
        "the pump leaks",
        "the pump",
    ]


async def test_a_type_is_searched_alone(client: httpx.AsyncClient) -> None:
    await save(client, "the pump leaks")

    assert await found(client, kind="note") == []


@pytest.mark.parametrize("saved", [{"place.city": "Porto"}, {"place": {"city": "Porto"}}])
@pytest.mark.parametrize("asked", [{"place.city": "Porto"}, {"place": {"city": "Porto"}}])
async def test_dotted_and_nested_tags_are_the_same(
    client: httpx.AsyncClient, saved: Any, asked: Any
) -> None:
    receipt = await save(client, "the pump leaks", tags=saved)

    assert receipt.json()["tags"] == {"place.city": "Porto"}
    assert [one["tags"] for one in await found(client, tags=asked)] == [{"place.city": "Porto"}]


async def test_every_tag_has_to_be_equal(client: httpx.AsyncClient) -> None:
    await save(client, "the pump leaks", tags={"plant": "north", "size": 1})

    assert await found(client, tags={"plant": "north", "size": 1})
    assert not await found(client, tags={"plant": "north", "size": 2})
    assert not await found(client, tags={"plant": "north", "place.city": "Porto"})


@pytest.mark.parametrize("path", ["ticket", "ticket/retrieve"])
async def test_an_undeclared_tag_is_refused_with_the_type_and_its_tags(
    client: httpx.AsyncClient, path: str
) -> None:
    body = {"content": "c", "query": "q", "tags": {"plants": "north"}}
    answer = await client.post(f"{TYPES}/{path}", json=body)

    assert answer.status_code == 400
    assert answer.json()["error"] == (
        "tag 'plants' is not declared for the custom memory type 'ticket': "
        "it declares plant, size, place.city"
    )
    assert not await found(client, "c")


@pytest.mark.parametrize("tags", ["north", ["plant"], 1])
async def test_tags_that_are_no_object_do_not_fit(client: httpx.AsyncClient, tags: Any) -> None:
    assert (await save(client, "c", tags=tags)).status_code == 422


@pytest.mark.parametrize("content", [None, "", "  "])
async def test_a_record_needs_content(client: httpx.AsyncClient, content: Any) -> None:
    assert (await save(client, content)).status_code == 422


async def test_nothing_is_found_for_a_blank_query(client: httpx.AsyncClient) -> None:
    await save(client, "the pump leaks")

    assert await found(client, "  ") == []


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_a_type_that_is_not_declared_is_unknown(
    client: httpx.AsyncClient, path: str, body: dict[str, str]
) -> None:
    answer = await client.post(f"{TYPES}/{path.format('nope')}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (404, "UNKNOWN_CUSTOM_TYPE")
    assert answer.json()["error"] == answer.json()["detail"] == UNKNOWN.format("nope")


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_a_deployment_can_do_without_the_feature(
    application: Application, clock: ManualClock, path: str, body: dict[str, str]
) -> None:
    settings = replace(application.settings, custom_memory_types=False)
    without = join(settings, store=application.store, providers=application.providers, clock=clock)
    transport = httpx.ASGITransport(create_app(without))

    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.post(f"{TYPES}/{path.format('ticket')}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_REQUEST")
    assert NOT_ENABLED in answer.json()["error"]


@pytest.mark.parametrize("top_k", [0, 101, -1])
async def test_the_number_of_results_has_bounds(client: httpx.AsyncClient, top_k: int) -> None:
    answer = await client.post(f"{TYPES}/ticket/retrieve", json={"query": "q", "top_k": top_k})

    assert answer.status_code == 422
    assert "1" in answer.json()["error"] or "100" in answer.json()["error"]


@pytest.mark.parametrize("prefix", FAMILIES)
async def test_every_route_family_serves_records(
    client: httpx.AsyncClient, owner: dict[str, str], prefix: str
) -> None:
    saved = await client.post(f"{prefix}/types/ticket", json={"content": "a pump"}, headers=owner)
    path = f"{prefix}/types/ticket/retrieve"
    answer = await client.post(path, json={"query": "pump"}, headers=owner)

    assert (saved.status_code, answer.status_code) == (201, 200)
    assert [one["id"] for one in answer.json()["results"]] == [saved.json()["id"]]


async def test_no_body_names_the_owner_of_a_record(client: httpx.AsyncClient) -> None:
    named = {"user_id": "ana", "agent_id": "liar", "visibility": "org", "project_id": "bank"}
    await save(client, "the pump leaks", **named)

    (record,) = await found(client, user_id="bob")

    assert (record["user_id"], record["agent_id"]) == (None, None)


@pytest.mark.parametrize("header", ["X-Agent-Engine-Agent-Id", "X-Agentic-Agent-Id"])
async def test_the_agent_of_a_record_is_the_headers_and_does_not_hide_it(
    client: httpx.AsyncClient, header: str
) -> None:
    await save(client, "the pump leaks", headers={header: "planner"})

    assert [one["agent_id"] for one in await found(client)] == ["planner"]


async def test_a_service_account_has_records_of_its_own(
    client: httpx.AsyncClient, application: Application
) -> None:
    headers, client_id = await an_account(application, AccountRole.AGENT_DEVELOPER)
    await save(client, "nobody's pump")
    await save(client, "the account's pump", headers=headers, user_id="ana")

    own = await found(client, headers=headers)

    assert [(one["content"], one["user_id"]) for one in own] == [("the account's pump", client_id)]
    assert [one["content"] for one in await found(client)] == ["nobody's pump"]


async def test_who_may_only_read_finds_records_and_saves_none(
    client: httpx.AsyncClient, application: Application
) -> None:
    headers, _ = await an_account(application, AccountRole.PROJECT_READ_ONLY)

    assert (await save(client, "c", headers=headers)).status_code == 403
    assert await found(client, headers=headers) == []


@pytest.mark.parametrize("header", ["X-Agent-Engine-Execution-Id", "X-Agentic-Execution-Id"])
async def test_inside_an_execution_records_are_its_users(
    client: httpx.AsyncClient, application: Application, header: str
) -> None:
    identity = MemoryIdentity(kind=PrincipalKind.PERSON, user_id="ana")
    execution = await application.executions.begin(
        project_id=PROJECT, identity=identity, session_id="s", workspace="local"
    )
    await save(client, "nobody's pump")
    await save(client, "ana's pump", headers={header: execution.id})

    inside = await found(client, headers={header: execution.id})

    assert [(one["content"], one["user_id"]) for one in inside] == [("ana's pump", "ana")]


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_inside_an_unknown_execution_it_is_not_known_whose_records_are_meant(
    client: httpx.AsyncClient, path: str, body: dict[str, str]
) -> None:
    answer = await client.post(
        f"{TYPES}/{path.format('ticket')}",
        json=body,
        headers={"X-Agent-Engine-Execution-Id": "unknown"},
    )

    assert (answer.status_code, answer.json()["code"]) == (400, "IDENTITY_MISSING")


async def test_records_are_shown_and_counted_by_their_type(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await save(client, "the pump leaks", tags={"plant": "north"})
    await client.post("/api/v1/memory/semantic", json={"label": "l", "text": "t"})

    answer = await client.get("/api/v1/admin/memories?type=ticket", headers=owner)

    assert answer.json()["counts"] == {"semantic": 1, "ticket": 1}
    (record,) = answer.json()["memories"]
    assert (record["type"], record["tags"]) == ("ticket", {"plant": "north"})
    none = await client.get("/api/v1/admin/memories?type=tickets", headers=owner)
    assert (none.status_code, none.json()["code"]) == (400, "INVALID_REQUEST")


async def test_contexts_are_not_built_from_records(client: httpx.AsyncClient) -> None:
    await save(client, "the pump leaks")
    context = {"query": "the pump leaks", "enabled_sources": ["custom"]}
    sources = {"query": "the pump leaks", "sources": [{"source": "custom"}]}

    for path, body in (("context", context), ("retrieval/context-from-sources", sources)):
        answer = await client.post(f"/api/v1/memory/{path}", json=body)
        assert answer.status_code == 422
        assert "one of stm, semantic" in answer.json()["error"]
    search = {"query": "the pump leaks", "type": "custom"}
    assert (await client.post("/api/v1/memory/search", json=search)).status_code == 422
    assert (await client.post("/api/v1/retrieval/custom", json=search)).status_code == 404
