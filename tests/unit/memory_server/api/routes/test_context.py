from typing import Any

import httpx
import pytest

FLAT = "/api/v1/memory"
FACT = {"label": "pump", "text": "the copper pump leaks", "user_id": "ana"}
TURN = {"session_id": "s", "user_id": "ana", "role": "user", "content": "the pump again"}


@pytest.fixture
async def client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller of a server that knows a fact and a turn of Ana's."""
    await client.post(f"{FLAT}/semantic", json=FACT)
    await client.post(f"{FLAT}/turns", json=TURN)
    return client


async def context(client: httpx.AsyncClient, path: str = "context", **body: Any) -> dict[str, Any]:
    answer = await client.post(f"{FLAT}/{path}", json={"query": "pump", "user_id": "ana"} | body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def from_sources(client: httpx.AsyncClient, *sources: dict[str, Any], **body: Any) -> Any:
    body = {"query": "pump", "user_id": "ana", "sources": list(sources)} | body
    return await client.post(f"{FLAT}/retrieval/context-from-sources", json=body)


async def test_a_context_says_what_went_into_it(client: httpx.AsyncClient) -> None:
    answer = await context(client)

    assert set(answer) == {"formatted_context", "metadata", "selected_memories"}
    assert "the copper pump leaks" in answer["formatted_context"]
    assert answer["selected_memories"] is None
    metadata = answer["metadata"]
    assert metadata["token_count"] > 0
    assert metadata["memory_counts"] == {"semantic": 1}
    assert all(seconds >= 0 for seconds in metadata["timing"].values())
    assert (metadata["ranking_strategy"], metadata["source_outcomes"]) == (None, None)
    assert (metadata["warnings"], metadata["dropped"]) == ([], [])


async def test_the_native_route_builds_the_same(client: httpx.AsyncClient) -> None:
    one, other = await context(client), await context(client, "retrieval/context")

    assert one["formatted_context"] == other["formatted_context"]


async def test_memories_are_sent_when_they_are_asked_for(client: httpx.AsyncClient) -> None:
    answer = await context(client, include_memories=True, enabled_sources=["stm"], session_id="s")

    [turn] = answer["selected_memories"]
    assert (turn["content"], turn["source"]) == ("the pump again", "stm")
    assert turn["metadata"].items() >= {"session_id": "s", "role": "user", "turn_seq": 1}.items()


@pytest.mark.parametrize(("style", "empty"), [("openai", []), ("claude", ""), ("jinja2", "")])
async def test_an_empty_context_has_the_form_of_its_style(
    client: httpx.AsyncClient, style: str, empty: object
) -> None:
    answer = await context(client, user_id="ghost", format_style=style, include_memories=True)

    assert answer["formatted_context"] == empty
    assert answer["selected_memories"] == []
    assert answer["metadata"]["token_count"] == 0


async def test_an_unknown_style_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{FLAT}/context", json={"query": "q", "format_style": "yaml"})

    assert answer.status_code == 422
    assert "claude" in answer.json()["error"]


@pytest.mark.parametrize("max_tokens", [1, 500])
async def test_a_budget_of_the_reserve_is_answered_with_nothing(
    client: httpx.AsyncClient, max_tokens: int
) -> None:
    answer = await context(client, max_tokens=max_tokens, include_memories=True)

    assert answer["selected_memories"] == []
    assert answer["metadata"]["token_count"] == 0
    assert len(answer["metadata"]["dropped"]) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"session_id": "s"}, "add 'stm' to enabled_sources"),
        ({"metadata_filter": {"tier": "gold"}}, "did you mean metadata.tier"),
        ({"visibility": "org"}, "this user's org memories only"),
    ],
)
async def test_what_surprises_is_told_as_a_warning(
    client: httpx.AsyncClient, body: dict[str, Any], said: str
) -> None:
    warnings = (await context(client, **body))["metadata"]["warnings"]

    assert len(warnings) == 1
    assert said in warnings[0]


async def test_each_source_has_its_outcome(client: httpx.AsyncClient) -> None:
    answer = await from_sources(
        client, {"source": "semantic", "mode": "hybrid"}, {"source": "episodic", "mode": "text"}
    )

    semantic, episodic = answer.json()["metadata"]["source_outcomes"]
    assert semantic == {
        "source": "semantic",
        "requested_mode": "hybrid",
        "effective_mode": "hybrid",
        "count": 1,
        "error": None,
        "retryable": False,
        "reranked": False,
    }
    assert (episodic["source"], episodic["count"], episodic["error"]) == ("episodic", 0, None)
    assert answer.json()["metadata"]["ranking_strategy"]


async def test_turns_without_an_index_fail_alone_and_are_an_outcome_in_company(
    client: httpx.AsyncClient,
) -> None:
    stm, semantic = {"source": "stm", "mode": "text"}, {"source": "semantic", "mode": "text"}

    alone = await from_sources(client, stm, session_id="s")
    together = await from_sources(client, stm, semantic, session_id="s")

    assert (alone.status_code, alone.json()["code"]) == (503, "ALL_SOURCES_FAILED")
    assert "metadata_partition_index" in alone.json()["error"]
    assert together.status_code == 200
    assert "short_term" in together.json()["metadata"]["source_outcomes"][0]["error"]


@pytest.mark.parametrize("path", ["tier", "user_id", "metadata.colour", "publishing.state"])
async def test_a_source_is_not_filtered_by_what_is_not_declared(
    client: httpx.AsyncClient, path: str
) -> None:
    spec = {"source": "semantic", "mode": "hybrid", "metadata_filter": {path: "x"}}

    answer = await from_sources(client, spec)

    assert answer.status_code == (422 if path.startswith("publishing") else 400)
    assert "metadata.tier" in answer.json()["error"]


async def test_turns_need_a_session(client: httpx.AsyncClient) -> None:
    answer = await from_sources(client, {"source": "stm", "mode": "text"})

    assert answer.status_code == 400
    assert "session_id" in answer.json()["error"]


async def test_a_context_says_what_it_was_limited_to(client: httpx.AsyncClient) -> None:
    spec = {"source": "semantic", "mode": "text", "metadata_filter": {"metadata.tier": "gold"}}

    answer = await from_sources(client, spec, visibility="private")

    assert answer.json()["metadata"]["predicates"] == [
        {
            "source": "semantic",
            "scope": {"project_id": "shop", "user_id": "ana", "visibility": "private"},
            "filter": {"metadata.tier": {"$eq": "gold"}},
            "as_of": None,
        }
    ]


async def test_tokens_are_counted_by_a_tokenizer_with_a_name(client: httpx.AsyncClient) -> None:
    assert (await context(client))["metadata"]["tokenizer"] == "estimate-1"


async def test_a_rerank_without_a_reranker_is_answered_in_the_order_that_was(
    client: httpx.AsyncClient,
) -> None:
    answer = await from_sources(client, {"source": "semantic", "mode": "hybrid"}, rerank=True)

    metadata = answer.json()["metadata"]
    assert (answer.status_code, metadata["ranking_strategy"]) == (200, "weighted_fusion")
    assert metadata["source_outcomes"][0]["reranked"] is False
    assert metadata["warnings"][0].startswith("rerank: ")
