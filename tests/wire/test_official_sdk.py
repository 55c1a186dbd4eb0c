"""Documented round trips of the official SDK against our server."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from agent_engine_sdk_memory import (
    Memory,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryRequestContext,
    MemoryServerError,
    MemorySource,
    RetrievalMode,
    SourceSpec,
)

from memory_server.errors import ProviderUnavailable
from memory_server.providers.embedding.deterministic import HashingEmbedder
from tests.unit.memory_server.api.application import OWNER_TOKEN
from tests.wire.conftest import Served

pytestmark = pytest.mark.both_stores


def other(root: Memory, user: str) -> Memory:
    return root.bind(MemoryRequestContext(user_id=f"other-than-{user}", session_id="elsewhere"))


def test_turns_are_numbered_within_their_session(memory: Memory, user: str) -> None:
    turns = [memory.record_turn(role="user", content=f"line {n}") for n in range(3)]

    assert [turn.turn_seq for turn in turns] == [1, 2, 3]
    assert {turn.session_id for turn in turns} == {f"session-of-{user}"}
    assert all(turn.acknowledged for turn in turns)


def test_one_key_stores_one_turn_however_often_it_is_sent(memory: Memory) -> None:
    def record(_: int) -> tuple[str, int]:
        turn = memory.record_turn(role="user", content="once", idempotency_key="k")
        return turn.id, turn.turn_seq

    with ThreadPoolExecutor(6) as pool:
        stored = set(pool.map(record, range(12)))

    assert len(stored) == 1
    assert memory.record_turn(role="user", content="next").turn_seq == 2


def test_concurrent_turns_are_numbered_without_gaps(memory: Memory) -> None:
    with ThreadPoolExecutor(8) as pool:
        turns = list(pool.map(lambda n: memory.record_turn(role="user", content=f"{n}"), range(24)))

    assert sorted(turn.turn_seq for turn in turns) == list(range(1, 25))


def test_a_recorded_turn_is_in_the_context_that_asks_for_it(memory: Memory) -> None:
    memory.record_turn(role="user", content="I am allergic to peanuts.")

    context = memory.build_context("allergies", enabled_sources={"stm"}, include_memories=True)

    assert "peanuts" in str(context.formatted_context)
    assert [chunk.source for chunk in context.selected_memories or []] == ["stm"]
    assert context.metadata.memory_counts == {"stm": 1}


@pytest.mark.parametrize("style", ["claude", "jinja2", "JINJA2"])
def test_a_string_style_gives_a_string(memory: Memory, style: str) -> None:
    memory.save_semantic(text="Lives in Oslo", label="home")

    assert "Oslo" in memory.build_context("where", format_style=style).formatted_context


def test_the_openai_style_gives_messages(memory: Memory) -> None:
    memory.save_semantic(text="Lives in Oslo", label="home")
    memory.record_turn(role="user", content="hello")

    context = memory.build_context(
        "where", format_style="openai", enabled_sources={"stm", "semantic"}
    )

    assert isinstance(context.formatted_context, list)
    assert [message["role"] for message in context.formatted_context] == ["system", "user"]


def test_a_fact_is_found_as_soon_as_it_is_saved(memory: Memory) -> None:
    saved = memory.save_semantic(text="Prefers window seats", label="seat", metadata={"n": 1})

    [chunk] = memory.search_semantic("window seats")

    assert (chunk.id, chunk.content) == (saved.id, "Prefers window seats")
    assert (chunk.metadata or {})["metadata"] == {"n": 1}
    assert 0 < (chunk.similarity_score or 0) <= 1


def test_a_fact_saved_again_replaces_the_former_text(memory: Memory) -> None:
    first = memory.save_semantic(text="Lives in Lyon", label="home")
    second = memory.save_semantic(text="Lives in Oslo", label="home")

    assert first.id == second.id
    assert (memory.get_semantic("home") or {})["text"] == "Lives in Oslo"
    assert [chunk.content for chunk in memory.search_semantic("lives in")] == ["Lives in Oslo"]


def test_a_private_fact_is_nobody_elses(root: Memory, memory: Memory, user: str) -> None:
    memory.save_semantic(text="The code is 4711", label="code")
    stranger = other(root, user)

    assert stranger.search_semantic("code 4711") == []
    assert stranger.get_semantic("code") is None
    assert "4711" not in str(stranger.build_context("code").formatted_context)


def test_visibility_narrows_and_never_widens(root: Memory, memory: Memory, user: str) -> None:
    memory.save_semantic(text=f"{user} private", label="a")
    memory.save_semantic(text=f"{user} shared", label="b", visibility="org")
    other(root, user).save_semantic(text=f"{user} theirs", label="c", visibility="org")

    def texts(handle: Memory, visibility: str | None) -> set[str]:
        found = handle.search_semantic(user, visibility=visibility, top_k=100)
        return {chunk.content for chunk in found if user in chunk.content}

    assert texts(memory, None) == {f"{user} private", f"{user} shared"}
    assert texts(memory, "org") == {f"{user} shared"}
    assert texts(root, "org") == {f"{user} shared", f"{user} theirs"}


def test_an_episode_is_listed_and_found(memory: Memory, user: str) -> None:
    saved = memory.save_episode(title="Trip", content="Went to Oslo", participants=["Ana"])

    [entry] = memory.list_episodes()
    [chunk] = memory.search_episodes("Oslo")

    assert (entry["id"], entry["session_id"]) == (saved.id, f"session-of-{user}")
    assert (chunk.id, chunk.source) == (saved.id, "episodic")


def test_a_term_is_read_by_its_domain(memory: Memory, user: str) -> None:
    memory.save_taxonomic(domain=user, term="PNR", definition="a booking's name")

    assert (memory.get_taxonomic_term(user, "PNR") or {})["definition"] == "a booking's name"
    assert memory.get_taxonomic_term(user, "absent") is None
    assert user in memory.list_domains()


def test_a_procedure_is_discovered_by_what_it_does(memory: Memory) -> None:
    saved = memory.save_procedure(
        procedure="rotate-key", description="Rotate the signing key", content="Stop, swap, start"
    )

    [found] = memory.discover_procedures("how do I rotate the signing key")

    assert (found["id"], found["procedure"]) == (saved.id, "rotate-key")
    assert found["content"] == "Stop, swap, start"
    assert 0 < found["score"] <= 1


def test_searches_of_several_sources_merge_by_score(memory: Memory) -> None:
    memory.save_semantic(text="the copper pump leaks", label="pump")
    memory.save_episode(title="Garden", content="we planted tomatoes beside the pump")

    found = memory.search("copper pump", sources=["semantic", "episodic"])

    assert [chunk.source for chunk in found] == ["semantic", "episodic"]


def test_a_search_without_its_model_is_answered_by_words(
    memory: Memory, served: Served, user: str
) -> None:
    memory.save_semantic(text="The copper pump leaks", label="pump")
    embedder = served.application.providers.embedder
    assert isinstance(embedder, HashingEmbedder)
    embedder.failure = ProviderUnavailable("the model is away")
    try:
        [chunk] = memory.search("copper pump", sources=["semantic"])
        raw = httpx.post(
            f"{served.url}/api/v1/memory/search",
            json={"type": "semantic", "query": "copper pump", "user_id": user},
            trust_env=False,
        )
    finally:
        embedder.failure = None

    assert chunk.content == "The copper pump leaks"
    assert raw.json()["degraded"] == "the model is away"


def test_a_context_from_sources_is_filtered_by_a_declared_key(memory: Memory) -> None:
    for tier in ("gold", "Gold", "silver"):
        memory.save_semantic(text=f"{tier} customer", label=tier, metadata={"tier": tier})
    spec = SourceSpec(
        source=MemorySource.SEMANTIC,
        mode=RetrievalMode.HYBRID,
        metadata_filter={"metadata.tier": {"$in": ["gold"]}},
    )

    context = memory.build_context_from_sources("customer", [spec], include_memories=True)

    assert [chunk.content for chunk in context.selected_memories or []] == ["gold customer"]


def test_an_undeclared_key_is_explained(memory: Memory) -> None:
    spec = SourceSpec(source=MemorySource.SEMANTIC, metadata_filter={"tier": "gold"})

    with pytest.raises(MemoryBadRequestError, match=r"metadata\.tier"):
        memory.build_context_from_sources("customer", [spec])


def test_turns_that_are_not_indexed_are_explained(memory: Memory) -> None:
    with pytest.raises(MemoryServerError, match="metadata_partition_index") as failed:
        memory.build_context_from_sources(
            "x", [SourceSpec(source=MemorySource.STM, mode=RetrievalMode.TEXT)]
        )

    assert failed.value.status == 503


def test_a_wrong_token_is_an_authentication_error(served: Served) -> None:
    with (
        Memory(base_url=served.url, project_id="shop", service_account_token="wrong") as wrong,
        pytest.raises(MemoryAuthError),
    ):
        wrong.search("q", user_id="u")


def test_a_foreign_project_is_an_error_that_says_which_project_is_here(served: Served) -> None:
    with (
        Memory(
            base_url=served.url, project_id="other", service_account_token=OWNER_TOKEN
        ) as foreign,
        pytest.raises(MemoryAuthError, match="no project 'other'; its own is 'shop'"),
    ):
        foreign.search("q", user_id="u")
