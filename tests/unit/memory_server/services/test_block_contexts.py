import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.candidate import Conversation as Read
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import Episode, Fact, Memory, MemoryType
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.scope import Scope
from memory_server.errors import (
    InvalidAnswer,
    ProviderUnavailable,
    StorageUnavailable,
)
from memory_server.ports.memories import Erase, Replace
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.block_contexts import BLOCKS_ARE_GONE, ContextMaking
from memory_server.services.blocks import BlockKeeping
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.blocks_said import a_conversation, body, everything
from tests.unit.memory_server.services.conftest import ANA, ScriptedExtractor


@pytest.fixture
def extraction(extractor: ScriptedExtractor) -> ScriptedExtractor:
    """An extractor that finds an episode, and a fact in each message."""

    def script(conversation: Read, kind: MemoryType) -> Sequence[Candidate]:
        turns = conversation.turns
        if kind is MemoryType.EPISODIC:
            told = Episode(title="t", content="c", summary_text="they spoke")
            return [Candidate(body=told, turn_ids=[turn.id for turn in turns])]
        return [
            Candidate(
                body=Fact(label="l", text=f"{turn.speaker} said {turn.content}"),
                turn_ids=[turn.id],
            )
            for turn in turns
        ]

    extractor.script = script
    return extractor


@pytest.fixture
def making(store: Store, extraction: ScriptedExtractor) -> ContextMaking:
    return ContextMaking(store=store, extractor=extraction)


@pytest.fixture
def runner(store: Store, making: ContextMaking, clock: ManualClock) -> Runner:
    return Runner(
        jobs=store.jobs,
        handlers={JobKind.CONTEXT: making.work_off},
        clock=clock,
        worker="w",
        retry=RetryPolicy(),
    )


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> BlockKeeping:
    return BlockKeeping(
        store=store, embedder=embedder, clock=clock, ids=ids, on_queued=lambda: None
    )


async def the_job(store: Store) -> Job:
    (job,) = await store.jobs.list("p")
    return job


async def test_each_viewpoint_has_the_facts_that_its_speaker_told(
    keeping: BlockKeeping, runner: Runner, store: Store
) -> None:
    given = a_conversation("i ran", "GOOD", context_required=True)
    recorded = await keeping.record(ANA, given)
    await runner.run_until_idle()

    found = {body(one).viewpoint: body(one) for one in await everything(store)}
    assert [body(one).extractor for one in recorded.blocks] == [None, None]
    assert {one.summary for one in found.values()} == {"they spoke"}
    assert found[Viewpoint.USER].contexts == ("user said i ran",)
    assert found[Viewpoint.ASSISTANT].contexts == ("assistant said GOOD",)
    assert {one.extractor for one in found.values()} == {"scripted/1"}
    assert (await the_job(store)).state is JobState.DONE


async def test_everybodys_view_has_the_facts_of_all(
    keeping: BlockKeeping, runner: Runner, store: Store
) -> None:
    views = (Viewpoint.SEQUENTIAL,)
    await keeping.record(
        ANA, a_conversation("i ran", "GOOD", context_required=True, viewpoints=views)
    )
    await runner.run_until_idle()

    (block,) = await everything(store)
    assert body(block).contexts == ("user said i ran", "assistant said GOOD")


async def test_without_being_asked_nobody_reads_an_exchange(
    keeping: BlockKeeping, runner: Runner, store: Store, extractor: ScriptedExtractor
) -> None:
    await keeping.record(ANA, a_conversation("a", "A"))
    await runner.run_until_idle()

    assert (extractor.asked, await store.jobs.list("p")) == (0, [])


async def test_what_was_read_is_asked_for_once_however_often_it_is_worked_off(
    keeping: BlockKeeping,
    runner: Runner,
    store: Store,
    extractor: ScriptedExtractor,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await keeping.record(ANA, a_conversation("a", "A", context_required=True))
    apply = store.memories.apply

    async def failing(*_: Any, **__: Any) -> None:
        monkeypatch.setattr(store.memories, "apply", apply)
        raise StorageUnavailable

    monkeypatch.setattr(store.memories, "apply", failing)
    await runner.run_until_idle()
    clock.advance(by=timedelta(hours=1))
    await runner.run_until_idle()

    assert extractor.asked == 2  # an episode and facts, once
    assert all(body(one).extractor for one in await everything(store))


async def test_what_changed_meanwhile_is_written_into_as_it_is_now(
    keeping: BlockKeeping, making: ContextMaking, runner: Runner, store: Store
) -> None:
    """A vector that comes late is no reason to read anew, and is not lost."""
    await keeping.record(ANA, a_conversation("a", "A", context_required=True))
    stale = await everything(store)
    for memory in stale:
        changed = replace(memory, metadata={"x": 1}, revision=memory.revision + 1)
        await store.memories.apply("p", [Replace(memory=changed)])
    get_many, answers = store.memories.get_many, [stale]

    async def first_stale(scope: Scope, ids: Sequence[str]) -> Sequence[Memory]:
        return answers.pop() if answers else await get_many(scope, ids)

    store.memories.get_many = first_stale  # type: ignore[method-assign]
    await runner.run_until_idle()

    found = await everything(store)
    assert [(body(one).summary, one.metadata) for one in found] == [("they spoke", {"x": 1})] * 2


async def test_work_on_blocks_that_are_gone_is_done(
    keeping: BlockKeeping, runner: Runner, store: Store, extractor: ScriptedExtractor
) -> None:
    recorded = await keeping.record(ANA, a_conversation("a", "A", context_required=True))
    await store.memories.apply("p", [Erase(memory_id=one.id) for one in recorded.blocks])
    await runner.run_until_idle()

    job = await the_job(store)
    assert (job.state, job.result, extractor.asked) == (
        JobState.DONE,
        {"outcome": BLOCKS_ARE_GONE},
        0,
    )


async def test_a_model_that_is_away_is_asked_again(
    keeping: BlockKeeping,
    runner: Runner,
    store: Store,
    extractor: ScriptedExtractor,
    clock: ManualClock,
) -> None:
    extractor.failures = [ProviderUnavailable()]
    await keeping.record(ANA, a_conversation("a", "A", context_required=True))
    await runner.run_until_idle()
    waiting = await the_job(store)
    clock.advance(by=timedelta(hours=1))
    await runner.run_until_idle()

    assert waiting.state is JobState.QUEUED
    assert all(body(one).summary for one in await everything(store))


async def test_who_waits_gets_summary_and_contexts(
    keeping: BlockKeeping, runner: Runner, clock: ManualClock
) -> None:
    call = asyncio.create_task(
        keeping.record(ANA, a_conversation("i ran", "GOOD", context_required=True, sync=True))
    )
    while not call.done():
        await runner.run_until_idle()
        clock.advance(by=timedelta(seconds=1))
        await asyncio.sleep(0)

    assert [body(one).summary for one in (await call).blocks] == ["they spoke"] * 2


@pytest.mark.parametrize("failure", [InvalidAnswer(), None], ids=["failed", "nobody works"])
async def test_who_waits_for_nothing_gets_what_there_is(
    keeping: BlockKeeping,
    runner: Runner,
    extractor: ScriptedExtractor,
    clock: ManualClock,
    failure: InvalidAnswer | None,
) -> None:
    extractor.failures = [failure] if failure else []
    call = asyncio.create_task(
        keeping.record(ANA, a_conversation("a", "A", context_required=True, sync=True))
    )
    while not call.done():
        if failure:
            await runner.run_until_idle()
        clock.advance(by=timedelta(seconds=1))
        await asyncio.sleep(0)

    recorded = await call
    assert [body(one).extractor for one in recorded.blocks] == [None, None]
    assert await keeping.failed(recorded.blocks) is (failure is not None)
