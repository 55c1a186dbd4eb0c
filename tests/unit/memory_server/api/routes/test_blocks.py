import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx
import pytest

from memory_server.application import Application
from tests.clock import ManualClock
from tests.unit.memory_server.api.callers import OWNER

BLOCKS = "/api/v1/memory/blocks"
FAMILIES = ["/api/v1/memory", "/api/v1/projects/shop/memory", "/api/v1"]


def said(role: str, content: str, **metadata: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "metadata": metadata}


ASKED = said("user", "I adopted a greyhound called Pixel", speaker="Ana", date="2023-05-08")
ANSWERED = said("assistant", "How lovely! Is he fast?", speaker="Ben")


async def record(
    client: httpx.AsyncClient, *messages: Mapping[str, Any], **body: Any
) -> dict[str, Any]:
    given = {"user_id": "ana", "conversation_id": "c1", "messages": [*messages], **body}
    answer = await client.post(BLOCKS, json=given)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def found(client: httpx.AsyncClient, query: str, **body: Any) -> list[dict[str, Any]]:
    given = {"user_id": "ana", "query": query, **body}
    answer = await client.post(f"{BLOCKS}/search", json=given)
    assert answer.status_code == 200, answer.text
    assert answer.json()["count"] == len(answer.json()["blocks"])
    return list(answer.json()["blocks"])


async def listed(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(BLOCKS, params={"user_id": "ana", **query})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["blocks"])


async def test_an_exchange_becomes_a_block_of_each_viewpoint(client: httpx.AsyncClient) -> None:
    receipt = await record(client, ASKED, ANSWERED, annotations={"mood": "glad"})

    (exchange,) = receipt["exchanges"]
    assert [(one["viewpoint"], one["speaker"]) for one in exchange["blocks"]] == [
        ("user", "Ana"),
        ("assistant", "Ben"),
    ]
    block = exchange["blocks"][0]
    assert block["message"] == (
        "Ana: I adopted a greyhound called Pixel\nBen: How lovely! Is he fast?"
    )
    assert block["annotations"] == {"mood": "glad", "time": "8 May 2023", "conversation_id": "c1"}
    assert (block["summary"], block["contexts"], block["extraction"]) == ("", [], "none")
    assert (receipt["count"], receipt["duplicate"], receipt["extraction"]) == (1, False, "none")
    assert list(receipt["timing"]) == ["validate", "embed", "write"]


async def test_a_search_finds_each_exchange_once(client: httpx.AsyncClient) -> None:
    await record(client, ASKED, ANSWERED, said("user", "Very fast"), said("assistant", "Good"))

    blocks = await found(client, "greyhound")
    of_assistant = await found(client, "greyhound", viewpoint="assistant")

    assert len({one["exchange_id"] for one in blocks}) == len(blocks)
    assert blocks[0]["message"].startswith("Ana: I adopted")
    assert {one["viewpoint"] for one in of_assistant} == {"assistant"}
    assert of_assistant[0]["exchange_id"] == blocks[0]["exchange_id"]


async def test_a_block_is_listed_as_it_was_told(client: httpx.AsyncClient) -> None:
    receipt = await record(client, ASKED, ANSWERED, metadata={"tier": "gold"})

    blocks = await listed(client)

    (exchange,) = receipt["exchanges"]
    assert sorted(exchange["blocks"], key=lambda one: one["id"], reverse=True) == blocks
    assert blocks[0]["metadata"] == {"tier": "gold", "date": "2023-05-08"}
    assert blocks[0]["event_time"] == "2023-05-08T00:00:00+00:00"


async def test_messages_are_named_by_whoever_recorded_them_or_by_their_place(
    client: httpx.AsyncClient,
) -> None:
    receipt = await record(client, ASKED | {"id": "D1:3"}, ANSWERED)

    (exchange,) = receipt["exchanges"]
    assert exchange["message_ids"] == ["D1:3", f"{exchange['exchange_id']}/2"]
    (block, *_) = await found(client, "greyhound")
    assert [one["id"] for one in block["messages"]] == exchange["message_ids"]
    assert [(one["speaker"], one["position"]) for one in block["messages"]] == [
        ("Ana", 1),
        ("Ben", 2),
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 6),
        ({"conversation_id": "c1"}, 4),
        ({"viewpoint": "assistant"}, 3),
        ({"viewpoint": ""}, 6),
        ({"limit": 1}, 1),
        ({"user_id": "bob"}, 0),
        ({"exchange_id": "unknown"}, 0),
    ],
)
async def test_a_list_can_be_narrowed(
    client: httpx.AsyncClient, query: dict[str, Any], count: int
) -> None:
    await record(client, ASKED, ANSWERED, ASKED, ANSWERED)
    await record(client, ASKED, ANSWERED, conversation_id="c2")

    assert len(await listed(client, **query)) == count


async def test_an_exchange_is_listed_by_its_id(client: httpx.AsyncClient) -> None:
    receipt = await record(client, ASKED, ANSWERED, ASKED, ANSWERED)
    exchange_id = receipt["exchanges"][1]["exchange_id"]

    blocks = await listed(client, exchange_id=exchange_id)

    assert [(one["exchange_id"], one["position"]) for one in blocks] == [(exchange_id, 2)] * 2
    assert len(await listed(client, exchange_id=exchange_id, viewpoint="user")) == 1
    assert await listed(client, exchange_id=exchange_id, conversation_id="c2") == []
    assert await listed(client, exchange_id=exchange_id, user_id="bob") == []


@pytest.mark.parametrize("root", FAMILIES)
async def test_every_family_has_the_routes(
    client: httpx.AsyncClient, owner: dict[str, str], root: str
) -> None:
    given = {"user_id": "ana", "conversation_id": "c1", "messages": [ASKED, ANSWERED]}

    saved = await client.post(f"{root}/blocks", json=given, headers=owner)
    shown = await client.get(f"{root}/blocks", params={"user_id": "ana"}, headers=owner)
    question = {"user_id": "ana", "query": "greyhound"}
    asked = await client.post(f"{root}/blocks/search", json=question, headers=owner)

    assert (saved.status_code, shown.status_code, asked.status_code) == (201, 200, 200)
    assert (shown.json()["count"], asked.json()["count"]) == (2, 1)


async def test_a_project_route_needs_a_token(client: httpx.AsyncClient) -> None:
    for method, path in (("POST", "blocks"), ("GET", "blocks"), ("POST", "blocks/search")):
        answer = await client.request(method, f"/api/v1/projects/shop/memory/{path}", json={})

        assert answer.status_code == 401


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        ({"messages": []}, 422, "messages"),
        ({"messages": [ASKED] * 201}, 422, "messages"),
        ({"messages": [said("tool", "x")]}, 422, "role"),
        ({"messages": [said("user", " ")]}, 422, "content"),
        ({"conversation_id": ""}, 400, "conversation_id"),
        ({"viewpoints": ["user", "sequential"]}, 400, "viewpoints"),
        ({"annotations": {"time": "x"}}, 400, "annotations.time"),
        ({"sync": True}, 400, "sync"),
        ({"messages": [said("user", "x" * 300_000)]}, 413, "messages.0.content"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_place(
    client: httpx.AsyncClient, body: dict[str, Any], status: int, place: str
) -> None:
    given = {"user_id": "ana", "conversation_id": "c", "messages": [ASKED]} | body

    answer = await client.post(BLOCKS, json=given)

    assert (answer.status_code, place in answer.text) == (status, True), answer.text
    assert await listed(client) == []


async def test_the_same_key_is_answered_with_the_same_exchanges(client: httpx.AsyncClient) -> None:
    messages = [ASKED, ANSWERED, ASKED, ANSWERED]
    first = await record(client, *messages, idempotency_key="k")
    again = await record(client, *messages, idempotency_key="k")

    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert again["exchanges"] == first["exchanges"]


async def test_a_search_is_narrowed_by_what_it_names(client: httpx.AsyncClient) -> None:
    await record(client, ASKED, ANSWERED, metadata={"tier": "gold"})
    later = ASKED | {"metadata": {"speaker": "Eve", "date": "2024-01-01"}}
    await record(client, later, ANSWERED, conversation_id="c2")

    every = await found(client, "greyhound")
    for narrowing, conversations in (
        ({"metadata_filter": {"metadata.tier": "gold"}}, ["c1"]),
        ({"conversation_id": "c2"}, ["c2"]),
        ({"speaker": "Eve"}, ["c2"]),
        ({"as_of": "2023-06-01T00:00:00Z"}, ["c1"]),
        ({"as_of": "2020-06-01T00:00:00Z"}, []),
        ({"top_k": 1, "mode": "text", "conversation_id": "c1"}, ["c1"]),
        ({"user_id": "bob"}, []),
    ):
        blocks = await found(client, "greyhound", **narrowing)
        assert [one["conversation_id"] for one in blocks] == conversations, narrowing
    assert len(every) == 2
    assert every[0]["similarity_score"] > 0


async def test_an_undeclared_key_is_refused(client: httpx.AsyncClient) -> None:
    question = {"user_id": "ana", "query": "x", "metadata_filter": {"metadata.colour": "red"}}

    answer = await client.post(f"{BLOCKS}/search", json=question)

    assert (answer.status_code, answer.json()["code"]) == (400, "UNDECLARED_PATH")


@pytest.mark.parametrize(
    ("mode", "stages"),
    [
        ("hybrid", {"query_embedding", "text_search", "vector_search", "load"}),
        ("text", {"text_search", "load"}),
        ("semantic", {"query_embedding", "vector_search", "load"}),
    ],
)
async def test_a_search_tells_how_long_its_stages_took_and_so_do_metrics(
    client: httpx.AsyncClient, mode: str, stages: set[str]
) -> None:
    await record(client, ASKED, ANSWERED)
    question = {"user_id": "ana", "query": "greyhound", "mode": mode}

    timing = (await client.post(f"{BLOCKS}/search", json=question)).json()["timing"]
    metrics = (await client.get("/metrics")).text

    assert timing.keys() == stages
    assert all(took > 0 for took in timing.values())
    for stage in stages | {"validate", "embed", "write"}:
        assert f'memory_server_stage_seconds_count{{stage="{stage}"}} 1.0' in metrics


async def test_a_context_is_built_from_exchanges(client: httpx.AsyncClient) -> None:
    await record(client, ASKED, ANSWERED)
    spec = {"source": "block", "mode": "hybrid", "metadata_filter": None}
    given = {"user_id": "ana", "query": "greyhound", "sources": [spec], "include_memories": True}

    answer = await client.post("/api/v1/memory/retrieval/context-from-sources", json=given)

    document = answer.json()
    assert "### Exchanges" in document["formatted_context"]
    assert "I adopted a greyhound called Pixel" in document["formatted_context"]
    (chunk,) = document["selected_memories"]
    assert chunk["source"] == "block"
    assert [one["content"] for one in chunk["metadata"]["messages"]] == [
        ASKED["content"],
        ANSWERED["content"],
    ]


async def test_summary_and_contexts_are_made_in_the_background(
    client: httpx.AsyncClient, application: Application
) -> None:
    receipt = await record(
        client, said("user", "I live in Lisbon."), ANSWERED, context_required=True
    )
    await application.runner.run_until_idle()

    blocks = {one["viewpoint"]: one for one in await listed(client)}
    assert receipt["extraction"] == "pending"
    assert {one["extraction"] for one in blocks.values()} == {"done"}
    assert "Lisbon" in blocks["user"]["summary"]
    assert any("Lisbon" in fact for fact in blocks["user"]["contexts"])
    assert blocks["assistant"]["contexts"] == []


async def test_one_may_wait_for_them(
    client: httpx.AsyncClient, application: Application, clock: ManualClock
) -> None:
    messages = (said("user", "I live in Lisbon."), ANSWERED)
    call = asyncio.create_task(record(client, *messages, context_required=True, sync=True))
    while not call.done():
        await application.runner.run_until_idle()
        clock.advance(by=timedelta(seconds=1))
        await asyncio.sleep(0)

    receipt = await call
    assert receipt["extraction"] == "done"
    assert "Lisbon" in receipt["exchanges"][0]["blocks"][0]["summary"]
    assert list(receipt["timing"]) == ["validate", "embed", "write", "extract"]


async def test_what_an_administrator_sees_of_a_block_names_its_place(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await record(client, ASKED, ANSWERED)

    answer = await client.get(
        "/api/v1/admin/memories", params={"user_id": "ana", "type": "block"}, headers=owner
    )

    shown = [(one["viewpoint"], one["position"]) for one in answer.json()["memories"]]
    assert sorted(shown) == [("assistant", 1), ("user", 1)]


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_block_is_read_by_its_id(client: httpx.AsyncClient, family: str) -> None:
    receipt = await record(client, ASKED, ANSWERED)
    stored = receipt["exchanges"][0]["blocks"][1]
    headers = OWNER if "projects" in family else {}

    answer = await client.get(f"{family}/blocks/{stored['id']}", headers=headers)

    assert (answer.status_code, answer.json()) == (200, stored)


async def test_what_is_no_block_of_the_scope_is_not_found(client: httpx.AsyncClient) -> None:
    receipt = await record(client, ASKED)
    block = receipt["exchanges"][0]["blocks"][0]["id"]
    fact = await client.post(
        "/api/v1/memory/semantic", json={"label": "a", "text": "b", "user_id": "ana"}
    )

    answers = [
        await client.get(f"{BLOCKS}/{block}", params={"user_id": "ben"}),
        await client.get(f"{BLOCKS}/{fact.json()['id']}"),
        await client.get(f"{BLOCKS}/none"),
    ]

    assert {(one.status_code, one.json()["code"]) for one in answers} == {(404, "MEMORY_NOT_FOUND")}
    assert (await client.get(f"{BLOCKS}/{block}", params={"user_id": "ana"})).status_code == 200
    assert (await client.get(f"/api/v1/memory/semantic/{block}")).status_code == 404
