from typing import Any

import httpx
import pytest

from memory_server.application import Application
from memory_server.errors import ProviderUnavailable
from memory_server.providers.embedding.deterministic import HashingEmbedder

FLAT = "/api/v1/memory"
KINDS = ["semantic", "episodic", "taxonomic", "procedural"]


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller of a server that knows one thing of each kind about the copper pump."""
    said = "the copper pump leaks"
    bodies: dict[str, dict[str, Any]] = {
        "semantic": {"label": "pump", "text": said, "metadata": {"tier": "gold"}},
        "episodic": {"title": "Leak", "content": said, "session_id": "s1"},
        "taxonomic": {"domain": "plant", "term": "pump", "definition": said},
        "procedural": {
            "procedure": "seal",
            "description": "d",
            "content": said,
            "tags": ["ops"],
        },
    }
    for kind, body in bodies.items():
        await client.post(f"{FLAT}/{kind}", json=body | {"user_id": "ana"})
    return client


async def found(client: httpx.AsyncClient, path: str = "search", **body: Any) -> list[Any]:
    answer = await client.post(f"{FLAT}/{path}", json={"query": "copper pump"} | body)
    assert answer.status_code == 200, answer.text
    memories: list[Any] = answer.json()["memories"]
    return memories


@pytest.mark.parametrize("kind", KINDS)
async def test_a_chunk_has_exactly_the_shape_that_clients_check(
    client: httpx.AsyncClient, kind: str
) -> None:
    [chunk] = await found(client, type=kind)

    fields = {"id", "content", "source", "timestamp", "similarity_score", "metadata"}
    assert set(chunk) == fields
    assert chunk["source"] == kind
    assert 0 < chunk["similarity_score"] <= 1
    assert (chunk["metadata"]["org_id"], chunk["metadata"]["user_id"]) == ("acme", "ana")
    assert ("metadata" in chunk["metadata"]) is (kind == "semantic")


@pytest.mark.parametrize("kind", KINDS)
async def test_the_native_route_finds_the_same(client: httpx.AsyncClient, kind: str) -> None:
    assert await found(client, f"retrieval/{kind}") == await found(client, type=kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_found_is_an_empty_list(client: httpx.AsyncClient, kind: str) -> None:
    assert await found(client, type=kind, user_id="ghost") == []


async def test_a_term_is_shown_with_its_domain(client: httpx.AsyncClient) -> None:
    assert (await found(client, type="taxonomic"))[0]["content"].startswith("plant/pump: ")


@pytest.mark.parametrize(
    ("kind", "narrowing", "count"),
    [
        ("episodic", {"session_id": "s1"}, 1),
        ("episodic", {"session_id": "s2"}, 0),
        ("episodic", {"session_id": ""}, 1),
        ("semantic", {"session_id": "s2"}, 1),
        ("taxonomic", {"domain": "plant"}, 1),
        ("taxonomic", {"domain": "office"}, 0),
        ("procedural", {"tags": ["ops", "x"]}, 1),
        ("procedural", {"tags": ["x"]}, 0),
        ("procedural", {"tags": None}, 1),
        ("semantic", {"metadata_filter": {"metadata.tier": "gold"}}, 1),
        ("semantic", {"metadata_filter": {"metadata.tier": "Gold"}}, 0),
        ("semantic", {"similarity_threshold": 1.1}, 0),
        ("semantic", {"visibility": "org"}, 0),
        ("semantic", {"mode": "text"}, 1),
    ],
)
async def test_a_search_is_narrowed(
    client: httpx.AsyncClient, kind: str, narrowing: dict[str, Any], count: int
) -> None:
    assert len(await found(client, type=kind, **narrowing)) == count


@pytest.mark.parametrize(
    ("path", "status"),
    [("tier", 400), ("metadata.colour", 400), ("user_id", 400), ("publishing.state", 422)],
)
@pytest.mark.parametrize("mode", [None, "text", "semantic", "hybrid"])
async def test_an_undeclared_filter_is_refused_with_the_accepted_paths(
    client: httpx.AsyncClient, path: str, status: int, mode: str | None
) -> None:
    body = {"type": "semantic", "query": "pump", "metadata_filter": {path: "gold"}, "mode": mode}

    answer = await client.post(f"{FLAT}/search", json=body)

    assert answer.status_code == status
    assert "metadata.tier (string)" in answer.json()["error"]


async def test_without_its_model_a_search_finds_by_words_and_says_so(
    client: httpx.AsyncClient, application: Application
) -> None:
    embedder = application.providers.embedder
    assert isinstance(embedder, HashingEmbedder)
    embedder.failure = ProviderUnavailable("the model is away")

    body = {"type": "semantic", "query": "copper pump", "user_id": "ana"}
    answer = (await client.post(f"{FLAT}/search", json=body)).json()

    assert [chunk["content"] for chunk in answer["memories"]] == ["the copper pump leaks"]
    assert answer["warnings"] == ["words only: the model is away"]
    assert answer["degraded"] == "the model is away"


async def test_a_search_that_ran_as_asked_is_not_called_degraded(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.post(f"{FLAT}/search", json={"type": "semantic", "query": "pump"})

    assert answer.json()["degraded"] is None


async def test_an_error_that_holds_half_a_character_is_answered_as_others_are(
    client: httpx.AsyncClient, application: Application
) -> None:
    embedder = application.providers.embedder
    assert isinstance(embedder, HashingEmbedder)
    embedder.failure = ProviderUnavailable("said \ud83d")

    body = {"type": "semantic", "query": "pump", "mode": "semantic"}
    answer = await client.post(f"{FLAT}/search", json=body)

    assert (answer.status_code, answer.json()["error"]) == (503, "said ?")


@pytest.mark.parametrize("body", [{"type": "nonsense"}, {"type": "stm"}, {}, {"top_k": 1001}])
async def test_a_search_that_is_not_possible_is_refused_but_never_called_missing(
    client: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    answer = await client.post(f"{FLAT}/search", json={"query": "q", "type": None} | body)

    assert answer.status_code == 422


async def test_ten_procedures_are_enough_unless_more_are_asked_for(
    client: httpx.AsyncClient,
) -> None:
    for number in range(11):
        body = {"procedure": f"p{number}", "description": "d", "content": f"copper pump {number}"}
        await client.post(f"{FLAT}/procedural", json=body | {"user_id": "ana"})

    assert len(await found(client, type="procedural")) == 10
    assert len(await found(client, type="procedural", top_k=12)) == 12


async def test_a_search_says_what_it_was_limited_to(client: httpx.AsyncClient) -> None:
    body = {
        "type": "episodic",
        "query": "pump",
        "user_id": "ana",
        "session_id": "s1",
        "tags": ["leaks", "urgent"],
        "as_of": "2026-01-31T12:00:00+01:00",
    }

    answer = (await client.post(f"{FLAT}/search", json=body)).json()

    assert answer["predicate"] == {
        "source": "episodic",
        "scope": {"project_id": "shop", "user_id": "ana", "session_id": "s1"},
        "filter": {"tags": {"$in": ["leaks", "urgent"]}},
        "as_of": "2026-01-31T12:00:00+01:00",
    }


@pytest.mark.parametrize("user_id", [None, "", "  "])
async def test_a_search_for_nobody_in_particular_is_told_to_reach_everybody(
    client: httpx.AsyncClient, user_id: str | None
) -> None:
    body = {"type": "semantic", "query": "pump", "user_id": user_id}

    answer = (await client.post(f"{FLAT}/search", json=body)).json()

    assert answer["predicate"]["scope"] == {"project_id": "shop"}
    assert "every user of the project" in answer["warnings"][0]


async def test_turns_are_found_in_every_session_of_the_user_or_in_one(
    client: httpx.AsyncClient,
) -> None:
    for user, session in (("ana", "s1"), ("ana", "s2"), ("eve", "s3")):
        turn = {"session_id": session, "user_id": user, "role": "user", "content": "a copper pump"}
        await client.post(f"{FLAT}/turns", json=turn)

    everywhere = await found(client, "turns/search", user_id="ana")
    in_one = await found(client, "turns/search", user_id="ana", session_id="s2")

    assert {chunk["metadata"]["session_id"] for chunk in everywhere} == {"s1", "s2"}
    assert [chunk["metadata"]["session_id"] for chunk in in_one] == ["s2"]
    assert {chunk["source"] for chunk in everywhere} == {"stm"}
    assert {chunk["metadata"]["turn_seq"] for chunk in everywhere} == {1}
