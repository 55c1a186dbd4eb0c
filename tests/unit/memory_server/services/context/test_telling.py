"""What a context tells of itself beside what is in it."""

from typing import Any

import pytest

from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.memory import Episode
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import AllSourcesFailed, ProviderUnavailable
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.context import ContextBuilding, SourceRequest
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.turns import TurnRecording
from tests.rerankers import LastFirst
from tests.unit.memory_server.services.conftest import ANA, a_turn
from tests.unit.memory_server.services.context.steps import (
    EPISODES,
    FACTS,
    IN_SESSION,
    ask,
    ask_sources,
    know,
    texts,
)


async def test_user_and_visibility_together_are_told_to_be_an_intersection(
    context: ContextBuilding,
) -> None:
    scope = Scope(project_id="p", user_id="ana", visibility=Visibility.ORG)

    answer = await ask(context, "q", scope=scope)

    assert any("visibility=org" in warning for warning in answer.warnings)


async def test_bare_filter_key_matches_nothing_and_warns(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    await know(keeping, "heron", metadata={"tier": "gold"})

    qualified = await ask(context, "heron", metadata_filter={"metadata.tier": "gold"})
    bare = await ask(context, "heron", metadata_filter={"tier": "gold"})

    assert texts(qualified) == ["heron"]
    assert texts(bare) == []
    assert any("metadata.tier" in warning for warning in bare.warnings)


@pytest.mark.parametrize(
    ("narrowing", "found"),
    [
        ({"metadata.tier": "gold"}, ["gold"]),
        ({"metadata.tier": {"$ne": "gold"}}, ["blue", "plain"]),
        ({"agent_id": {"$exists": True}}, []),
        ({"tier": "gold"}, []),
    ],
)
async def test_recent_turns_pass_the_filter_too(
    context: ContextBuilding,
    recording: TurnRecording,
    narrowing: dict[str, Any],
    found: list[str],
) -> None:
    for name in ("gold", "blue", "plain"):
        metadata = {} if name == "plain" else {"tier": name}
        await recording.record(ANA, a_turn(name, metadata=metadata))

    answer = await ask(
        context, "q", scope=IN_SESSION, sources=[Source.STM], metadata_filter=narrowing
    )

    assert sorted(texts(answer)) == found
    told = any("no recent turn of this session passes" in one for one in answer.warnings)
    assert told is not bool(found)
    assert answer.selections[0].filter is not None


async def test_words_are_searched_when_the_embedding_provider_is_away(
    context: ContextBuilding, keeping: MemoryKeeping, embedder: HashingEmbedder
) -> None:
    await know(keeping, "The launch code word is heron.")
    embedder.failure = ProviderUnavailable()

    answer = await ask(context, "launch code word")

    assert texts(answer) == ["The launch code word is heron."]
    assert any(warning.startswith("words only") for warning in answer.warnings)


async def test_source_that_ran_on_words_alone_is_told(
    context: ContextBuilding, keeping: MemoryKeeping, embedder: HashingEmbedder
) -> None:
    await know(keeping, "The launch code word is heron.")
    embedder.failure = ProviderUnavailable("the model is away")
    hybrid = SourceRequest(source=Source.SEMANTIC, mode=RetrievalMode.HYBRID)

    answer = await ask_sources(context, "launch code word", hybrid)

    assert list(answer.warnings) == ["words only: the model is away"]


@pytest.mark.parametrize("mode", list(RetrievalMode))
async def test_each_mode_finds_and_reports(
    context: ContextBuilding, keeping: MemoryKeeping, mode: RetrievalMode
) -> None:
    await know(keeping, "Part number HX-77 fits the pump.")

    answer = await ask_sources(
        context, "which part fits the pump", SourceRequest(source=Source.SEMANTIC, mode=mode)
    )

    assert texts(answer) == ["Part number HX-77 fits the pump."]
    [outcome] = answer.source_outcomes or ()
    assert (outcome.requested_mode, outcome.count, outcome.error) == (mode, 1, None)


async def test_failed_source_is_an_outcome_beside_a_healthy_one(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    await know(keeping, "heron")

    answer = await ask_sources(
        context,
        "heron",
        SourceRequest(source=Source.STM, mode=RetrievalMode.TEXT),
        SourceRequest(source=Source.SEMANTIC, mode=RetrievalMode.TEXT),
        scope=IN_SESSION,
    )

    stm, semantic = answer.source_outcomes or ()
    assert "metadata_partition_index" in str(stm.error)
    assert semantic.error is None
    assert texts(answer) == ["heron"]


async def test_all_sources_failed_is_an_error_that_says_why(context: ContextBuilding) -> None:
    with pytest.raises(AllSourcesFailed, match="short_term"):
        await ask_sources(context, "q", SourceRequest(source=Source.STM), scope=IN_SESSION)


async def test_each_source_says_whether_it_was_reranked(
    context: ContextBuilding, keeping: MemoryKeeping, reranker: LastFirst
) -> None:
    reranker.candidates = 1
    await know(keeping, "heron heron heron")
    episode = Episode(title="Trip", content="somebody mentioned a grey bird")
    await keeping.save(ANA, SaveRequest(body=episode))

    answer = await ask_sources(context, "heron", FACTS, EPISODES, rerank=True)

    outcomes = {one.source: (one.count, one.reranked) for one in answer.source_outcomes or ()}
    assert outcomes == {Source.SEMANTIC: (1, True), Source.EPISODIC: (1, False)}


async def test_a_rerank_that_fails_keeps_the_order_and_is_told_of(
    context: ContextBuilding, keeping: MemoryKeeping, reranker: LastFirst
) -> None:
    reranker.failure = ProviderUnavailable("the reranker is away")
    await know(keeping, "heron")
    await know(keeping, "heron and a second bird")

    plain = await ask_sources(context, "heron", FACTS)
    answer = await ask_sources(context, "heron", FACTS, rerank=True)

    assert texts(answer) == texts(plain)
    assert answer.ranking_strategy == "weighted_fusion"
    assert list(answer.warnings) == [
        "rerank: the reranker is away; the order is that of the fusion"
    ]
    assert not any(one.reranked for one in answer.source_outcomes or ())


async def test_a_context_says_what_each_source_was_limited_to(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    gold = SourceRequest(source=Source.SEMANTIC, metadata_filter={"metadata.tier": "gold"})
    turns = SourceRequest(source=Source.STM, mode=RetrievalMode.TEXT)

    answer = await ask_sources(context, "heron", gold, turns, scope=IN_SESSION)

    facts, recent = answer.selections
    assert (facts.scope, recent.scope) == (ANA, IN_SESSION)
    assert facts.filter == Comparison("metadata.tier", Operator.EQ, "gold")
    assert recent.filter is None


async def test_recent_turns_are_among_what_a_context_was_limited_to(
    context: ContextBuilding,
) -> None:
    both = (Source.SEMANTIC, Source.STM)

    answer = await ask(context, "heron", scope=IN_SESSION, sources=both)

    assert [(one.source, one.scope) for one in answer.selections] == [
        (Source.SEMANTIC, ANA),
        (Source.STM, IN_SESSION),
    ]


async def test_an_outage_is_no_index_that_is_being_built(
    context: ContextBuilding, keeping: MemoryKeeping, embedder: HashingEmbedder
) -> None:
    embedder.failure = ProviderUnavailable("the model is away")
    words = SourceRequest(source=Source.EPISODIC, mode=RetrievalMode.TEXT)

    answer = await ask_sources(context, "heron", SourceRequest(source=Source.SEMANTIC), words)

    failed, healthy = answer.source_outcomes or ()
    assert (failed.error, failed.retryable) == ("the model is away", False)
    assert (healthy.error, healthy.retryable) == (None, False)


@pytest.mark.parametrize(
    ("max_tokens", "said"), [(400, "more than 500"), (503, "3 tokens are left after the reserve")]
)
async def test_a_budget_that_nothing_fits_is_told_of(
    context: ContextBuilding, keeping: MemoryKeeping, max_tokens: int, said: str
) -> None:
    await know(keeping, "The launch code word is heron.")

    answer = await ask(context, "heron", max_tokens=max_tokens)

    assert (texts(answer), len(answer.dropped)) == ([], 1)
    assert said in answer.warnings[0]
