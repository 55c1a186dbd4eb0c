import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest

from memory_server.domain.block import Message
from memory_server.domain.candidate import Candidate
from memory_server.domain.candidate import Conversation as Read
from memory_server.domain.chunk import Source
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.limits import MAX_CONTENT_BYTES, MAX_TEXT_BYTES
from memory_server.domain.memory import Block, Episode, Fact, Memory, MemoryType
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role
from memory_server.errors import (
    InvalidAnswer,
    InvalidRequest,
    ProviderUnavailable,
    StorageUnavailable,
    TooLarge,
)
from memory_server.ports.memories import Erase, MemoryQuery, Replace
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.block_contexts import BLOCKS_ARE_GONE, ContextMaking
from memory_server.services.block_drafts import Conversation
from memory_server.services.blocks import BlockKeeping, RecordedBlocks
from memory_server.services.embedding import LateEmbedding
from memory_server.services.search import Retrieval, SearchRequest
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, BOB, ScriptedExtractor


def said(text: str, **metadata: Any) -> Message:
    """Return a message: of the user in small letters, of the assistant in capitals."""
    role = Role.ASSISTANT if text.isupper() else Role.USER
    return Message(role=role, content=text, metadata=metadata)


def a_conversation(*texts: str, **changes: Any) -> Conversation:
    values: dict[str, Any] = {"conversation_id": "c", "messages": [said(text) for text in texts]}
    return Conversation(**values | changes)


def body(memory: Memory) -> Block:
    assert isinstance(memory.body, Block)
    return memory.body


def positions(recorded: RecordedBlocks) -> list[int]:
    return sorted({body(memory).position for memory in recorded.blocks})


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


async def everything(store: Store) -> Sequence[Memory]:
    return await store.memories.find(Scope(project_id="p"), MemoryQuery())


async def test_exchanges_are_numbered_on_from_request_to_request(keeping: BlockKeeping) -> None:
    first = await keeping.record(ANA, a_conversation("a", "A", "b", "B"))
    second = await keeping.record(ANA, a_conversation("c", "C"))
    others = [
        await keeping.record(BOB, a_conversation("a", "A")),
        await keeping.record(ANA, a_conversation("a", "A", conversation_id="d")),
    ]

    assert (positions(first), positions(second)) == ([1, 2], [3])
    assert [positions(one) for one in others] == [[1], [1]]


async def test_who_records_at_the_same_moment_gets_a_place_of_their_own(
    keeping: BlockKeeping,
) -> None:
    calls = [keeping.record(ANA, a_conversation(f"a{n}", "A")) for n in range(20)]

    recorded = await asyncio.gather(*calls)

    assert sorted(chain(*map(positions, recorded))) == [*range(1, 21)]


async def test_two_servers_give_no_place_twice(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> None:
    servers = [
        BlockKeeping(store=store, embedder=embedder, clock=clock, ids=ids, on_queued=lambda: None)
        for _ in range(5)
    ]
    calls = [
        one.record(ANA, a_conversation(f"a{n}", "A", "b", "B")) for n in range(4) for one in servers
    ]

    recorded = await asyncio.gather(*calls)

    assert sorted(chain(*map(positions, recorded))) == [*range(1, 41)]


async def test_a_clock_that_goes_back_gives_no_place_twice(
    keeping: BlockKeeping, clock: ManualClock
) -> None:
    await keeping.record(ANA, a_conversation("a", "A"))
    await keeping.record(ANA, a_conversation("b", "B"))
    clock.advance(by=-timedelta(hours=1))
    await keeping.record(ANA, a_conversation("c", "C"))

    assert positions(await keeping.record(ANA, a_conversation("d", "D"))) == [4]


async def test_a_key_stores_once(keeping: BlockKeeping, store: Store) -> None:
    given = a_conversation("a", "A", "b", "B", idempotency_key="k")
    first = await keeping.record(ANA, given)
    again = await keeping.record(ANA, given)
    elsewhere = await keeping.record(ANA, replace(given, conversation_id="d"))
    bobs = await keeping.record(BOB, given)

    assert (first.is_duplicate, again.is_duplicate) == (False, True)
    assert {one.id for one in again.blocks} == {one.id for one in first.blocks}
    assert (elsewhere.is_duplicate, bobs.is_duplicate) == (False, False)
    assert len(await everything(store)) == 3 * 4


async def test_a_key_sent_many_times_at_once_stores_once(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> None:
    servers = [
        BlockKeeping(store=store, embedder=embedder, clock=clock, ids=ids, on_queued=lambda: None)
        for _ in range(5)
    ]
    given = a_conversation("a", "A", idempotency_key="k")

    recorded = await asyncio.gather(*(one.record(ANA, given) for one in servers * 3))

    assert sum(not one.is_duplicate for one in recorded) == 1
    assert len(await everything(store)) == 2


async def test_what_is_recorded_without_the_model_is_embedded_later(
    keeping: BlockKeeping,
    store: Store,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> None:
    embedder.failure = ProviderUnavailable()
    recorded = await keeping.record(ANA, a_conversation("a greyhound", "A DOG"))
    embedder.failure = None
    late = LateEmbedding(store=store, embedder=embedder, clock=clock, ids=ids)
    queued = await late.sweep("p")
    runner = Runner(
        jobs=store.jobs,
        handlers={JobKind.EMBED: late.work_off},
        clock=clock,
        worker="w",
        retry=RetryPolicy(),
    )
    await runner.run_until_idle()

    assert [one.has_embedding for one in recorded.blocks] == [False, False]
    assert queued == 2
    assert all(one.has_embedding for one in await everything(store))


async def test_viewpoints_of_an_exchange_share_one_embedding(
    keeping: BlockKeeping, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    embed = embedder.embed

    async def listening(texts: Sequence[str], **more: Any) -> Any:
        asked.extend(texts)
        return await embed(texts, **more)

    monkeypatch.setattr(embedder, "embed", listening)
    await keeping.record(ANA, a_conversation("a", "A", "b", "B"))

    assert asked == ["user: a\nassistant: A", "user: b\nassistant: B"]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"conversation_id": " "}, "conversation_id"),
        ({"messages": []}, "messages"),
        ({"messages": [said("a"), said(" ")]}, "messages.1.content"),
        ({"messages": [replace(said("a"), role=Role.TOOL)]}, "messages.0.role"),
        ({"messages": [replace(said(one), id="m") for one in "ab"]}, "messages"),
        ({"viewpoints": ()}, "viewpoints"),
        ({"viewpoints": (Viewpoint.USER, Viewpoint.USER)}, "viewpoints"),
        ({"viewpoints": (Viewpoint.USER, Viewpoint.SEQUENTIAL)}, "viewpoints"),
        ({"annotations": {"time": "now"}}, "annotations.time"),
        ({"annotations": {"conversation_id": "d"}}, "annotations.conversation_id"),
        ({"sync": True}, "sync"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_place_and_nothing_is_stored(
    keeping: BlockKeeping, store: Store, changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"^{place}:"):
        await keeping.record(ANA, a_conversation("a", "A", **changes))

    assert await everything(store) == []


@pytest.mark.parametrize(
    "texts", [["x" * (MAX_CONTENT_BYTES + 1)], ["a", "x" * (MAX_TEXT_BYTES - 9), "ok", "OK"]]
)
async def test_what_is_too_large_is_refused_with_all_of_its_request(
    keeping: BlockKeeping, store: Store, texts: list[str]
) -> None:
    with pytest.raises(TooLarge, match="Nothing was stored"):
        await keeping.record(ANA, a_conversation("fine", "FINE", *texts))

    assert await everything(store) == []


async def test_a_viewpoint_without_anybody_in_it_stores_nothing(
    keeping: BlockKeeping, store: Store
) -> None:
    with pytest.raises(InvalidRequest, match=r"^viewpoints: nobody"):
        await keeping.record(ANA, a_conversation("a", "A", "b", viewpoints=(Viewpoint.ASSISTANT,)))

    assert await everything(store) == []


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


async def test_a_search_counts_exchanges_not_viewpoints(
    keeping: BlockKeeping, store: Store, embedder: HashingEmbedder
) -> None:
    texts = [text for n in range(6) for text in (f"greyhound number{n}", "FAST DOG")]
    await keeping.record(ANA, a_conversation(*texts))
    request = SearchRequest(scope=ANA, source=Source.BLOCK, query="greyhound", top_k=4)

    found = await Retrieval(store=store, embedder=embedder).search(request)

    assert len({chunk.metadata["exchange_id"] for chunk in found.chunks}) == 4
