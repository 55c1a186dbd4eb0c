"""What is in a context, and in which order."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.chunk import Chunk, RetrievalMode, Source
from memory_server.domain.formats import FormatStyle, Formatted, format_context
from memory_server.domain.memory import Episode
from memory_server.domain.partitions import BOTH, Partitions
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import InvalidRequest, ProviderUnavailable, UndeclaredPath
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.providers.reranking.absent import NoReranker
from memory_server.services.context import LONG, ContextBuilding, SourceRequest
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.reranking import Reranking
from memory_server.services.search import Retrieval
from memory_server.services.turns import TurnRecording
from tests.clock import ManualClock
from tests.rerankers import LastFirst
from tests.unit.memory_server.services.conftest import ANA, BOB, a_turn
from tests.unit.memory_server.services.context.steps import (
    FACTS,
    IN_SESSION,
    ask,
    ask_sources,
    know,
    texts,
)

NEAREST = "My desk has a height of 95 these days."
DESK = ("The height of my desk is 80.", NEAREST)


async def test_best_match_comes_first_with_a_score(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    await know(keeping, "The launch code word is heron.")
    await know(keeping, "Gardening needs patience.")

    answer = await ask(context, "what is the launch code word")

    assert texts(answer)[0] == "The launch code word is heron."
    assert "heron" in str(answer.formatted)
    assert answer.memory_counts["semantic"] >= 1
    assert answer.token_count > 0


@pytest.mark.parametrize("facts", [DESK, DESK[::-1]], ids=["as written", "the other way round"])
async def test_of_two_facts_on_how_things_are_the_later_one_comes_first(
    context: ContextBuilding, keeping: MemoryKeeping, clock: ManualClock, facts: Sequence[str]
) -> None:
    for fact in facts:
        await know(keeping, fact)
        clock.advance(by=timedelta(days=90))

    present = await ask(context, "What is the height of my desk?")
    past = await ask(context, "What was the height of my desk?")

    assert texts(present)[:2] == [facts[1], facts[0]]
    assert sorted(texts(past)[:2]) == sorted(DESK)
    assert texts(past)[0] == NEAREST


async def test_turns_are_included_only_when_asked_for(
    context: ContextBuilding, recording: TurnRecording
) -> None:
    await recording.record(ANA, a_turn("I just said heron"))

    without = await ask(context, "heron", scope=IN_SESSION)
    including = await ask(context, "heron", scope=IN_SESSION, sources=(Source.STM,))

    assert texts(without) == []
    assert any("short-term" in warning for warning in without.warnings)
    assert texts(including) == ["I just said heron"]


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        ({}, True),
        ({"visibility": Visibility.PRIVATE}, True),
        ({"visibility": Visibility.ORG}, False),
        ({"visibility": Visibility.SHARED}, False),
        ({"user_id": "bob"}, False),
        ({"user_id": None, "visibility": Visibility.ORG}, False),
        ({"session_id": "s2"}, False),
        ({"agent_id": "another"}, False),
    ],
)
async def test_turns_are_given_within_the_scope_and_no_further(
    context: ContextBuilding, recording: TurnRecording, changes: dict[str, Any], seen: bool
) -> None:
    await recording.record(ANA, a_turn("my PIN is 1234"))
    scope = replace(IN_SESSION, **changes)

    with_turns = await ask(context, "pin", scope=scope, sources=(Source.STM,))
    without = await ask(context, "pin", scope=scope)

    assert texts(with_turns) == (["my PIN is 1234"] if seen else [])
    assert any("short-term" in warning for warning in without.warnings) is seen


async def test_searched_turns_keep_to_the_scope_too(
    store: Store, embedder: HashingEmbedder, recording: TurnRecording
) -> None:
    await recording.record(ANA, a_turn("my PIN is 1234"))
    context = ContextBuilding(
        store=store,
        retrieval=Retrieval(store=store, embedder=embedder),
        reranking=Reranking(NoReranker("there is none")),
        partitions=Partitions(keys={}, index={Source.STM: BOTH}),
        default_style=FormatStyle.JINJA2,
    )
    turns = SourceRequest(source=Source.STM, mode=RetrievalMode.TEXT)
    everybodys = replace(IN_SESSION, visibility=Visibility.ORG)

    assert texts(await ask_sources(context, "pin", turns, scope=IN_SESSION)) == ["my PIN is 1234"]
    assert texts(await ask_sources(context, "pin", turns, scope=everybodys)) == []


async def test_newest_turns_fit_a_small_budget_first(
    context: ContextBuilding, recording: TurnRecording
) -> None:
    for number in range(30):
        await recording.record(ANA, a_turn(f"note {number} " + "lorem ipsum dolor " * 10))

    answer = await ask(context, "note", scope=IN_SESSION, sources=(Source.STM,), max_tokens=700)

    assert 0 < len(answer.selected) < 30
    assert answer.dropped
    assert any(text.startswith("note 29") for text in texts(answer))


@pytest.mark.parametrize("max_tokens", [1, 499, 500])
async def test_budget_within_the_reserve_gives_nothing(
    context: ContextBuilding, keeping: MemoryKeeping, max_tokens: int
) -> None:
    await know(keeping, "The launch code word is heron.")

    answer = await ask(context, "heron", max_tokens=max_tokens)

    assert (texts(answer), answer.formatted) == ([], "")


async def test_others_private_memories_are_in_no_context(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    await know(keeping, "The launch code word is heron.")

    assert texts(await ask(context, "launch code word heron", scope=BOB)) == []


async def test_turns_need_a_session(context: ContextBuilding) -> None:
    with pytest.raises(InvalidRequest, match=r"^session_id"):
        await ask_sources(context, "q", SourceRequest(source=Source.STM))


async def test_undeclared_path_is_refused_with_the_accepted_ones(
    context: ContextBuilding,
) -> None:
    source = SourceRequest(source=Source.SEMANTIC, metadata_filter={"metadata.zzz": 1})

    with pytest.raises(UndeclaredPath, match=r"metadata\.tier"):
        await ask_sources(context, "q", source)


async def test_key_of_a_source_that_is_not_indexed_is_refused(context: ContextBuilding) -> None:
    source = SourceRequest(source=Source.EPISODIC, metadata_filter={"metadata.tier": "gold"})

    with pytest.raises(UndeclaredPath):
        await ask_sources(context, "q", source)


async def test_repeats_across_sources_are_shown_once(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    await know(keeping, "Ana flew to Rome in May.")
    episode = Episode(title="Rome", content="Ana flew to Rome in May.")
    await keeping.save(ANA, SaveRequest(body=episode))

    assert len(texts(await ask(context, "Ana flew to Rome"))) == 1


async def test_bound_session_hides_no_episodes(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    elsewhere = Scope(project_id="p", user_id="ana", session_id="another")
    episode = Episode(title="Rome", content="Ana flew to Rome in May.")
    await keeping.save(elsewhere, SaveRequest(body=episode))

    assert texts(await ask(context, "Rome", scope=IN_SESSION)) == ["Ana flew to Rome in May."]


async def test_a_rerank_gives_the_order_in_which_the_budget_is_filled(
    context: ContextBuilding, keeping: MemoryKeeping
) -> None:
    for text in ("heron heron", "heron and a second bird"):
        await know(keeping, text)

    plain = await ask_sources(context, "heron", FACTS, max_tokens=515)
    reranked = await ask_sources(context, "heron", FACTS, max_tokens=515, rerank=True)

    assert texts(plain) == ["heron heron"]
    assert texts(reranked) == ["heron and a second bird"]
    assert (plain.ranking_strategy, reranked.ranking_strategy) == ("weighted_fusion", "last_first")
    assert "rerank" in reranked.timing


async def test_where_nothing_is_found_no_reranker_is_asked(
    context: ContextBuilding, reranker: LastFirst
) -> None:
    reranker.failure = ProviderUnavailable("the reranker is away")

    answer = await ask_sources(context, "heron", FACTS, rerank=True)

    assert (texts(answer), list(answer.warnings)) == ([], [])


@pytest.mark.parametrize("style", list(FormatStyle))
@pytest.mark.parametrize("max_tokens", [540, 600, 900, 2_000])
async def test_a_formatted_context_never_passes_its_budget(
    context: ContextBuilding, keeping: MemoryKeeping, style: FormatStyle, max_tokens: int
) -> None:
    for number in range(40):
        await know(keeping, f"<heron> number {number}: " + "a & b <c> " * (number % 9))

    answer = await ask(context, "heron", max_tokens=max_tokens, style=style)

    assert answer.selected
    assert answer.token_count <= max_tokens
    assert len(answer.selected) + len(answer.dropped) == 40


@pytest.mark.parametrize(("length", "elsewhere"), [(100, False), (LONG // 6, True)])
async def test_long_finds_are_written_while_others_are_served(
    context: ContextBuilding,
    keeping: MemoryKeeping,
    monkeypatch: pytest.MonkeyPatch,
    length: int,
    elsewhere: bool,
) -> None:
    await know(keeping, "heron, " * length)
    threads: list[int] = []

    def noted(chunks: Sequence[Chunk], style: FormatStyle) -> Formatted:
        threads.append(threading.get_ident())
        return format_context(chunks, style)

    monkeypatch.setattr("memory_server.services.context.format_context", noted)
    await ask(context, "heron")
    await ask_sources(context, "heron", FACTS)

    assert len(threads) == 2
    assert {thread != threading.get_ident() for thread in threads} == {elsewhere}
