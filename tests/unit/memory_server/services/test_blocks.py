import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.job import JobKind
from memory_server.domain.limits import MAX_CONTENT_BYTES, MAX_TEXT_BYTES
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.turn import Role
from memory_server.errors import (
    InvalidRequest,
    ProviderUnavailable,
    TooLarge,
)
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.blocks import BlockKeeping, RecordedBlocks
from memory_server.services.embedding import LateEmbedding
from memory_server.services.search import Retrieval, SearchRequest
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.blocks_said import a_conversation, body, everything, said
from tests.unit.memory_server.services.conftest import ANA, BOB


def positions(recorded: RecordedBlocks) -> list[int]:
    return sorted({body(memory).position for memory in recorded.blocks})


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> BlockKeeping:
    return BlockKeeping(
        store=store, embedder=embedder, clock=clock, ids=ids, on_queued=lambda: None
    )


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


async def test_a_search_counts_exchanges_not_viewpoints(
    keeping: BlockKeeping, store: Store, embedder: HashingEmbedder
) -> None:
    texts = [text for n in range(6) for text in (f"greyhound number{n}", "FAST DOG")]
    await keeping.record(ANA, a_conversation(*texts))
    request = SearchRequest(scope=ANA, source=Source.BLOCK, query="greyhound", top_k=4)

    found = await Retrieval(store=store, embedder=embedder).search(request)

    assert len({chunk.metadata["exchange_id"] for chunk in found.chunks}) == 4


async def test_a_search_finds_as_many_exchanges_as_are_asked_for(
    keeping: BlockKeeping, store: Store, embedder: HashingEmbedder
) -> None:
    texts = [text for n in range(50) for text in (f"greyhound number{n}", "FAST DOG")]
    for number in range(3):
        await keeping.record(ANA, a_conversation(*texts, conversation_id=f"c{number}"))
    request = SearchRequest(scope=ANA, source=Source.BLOCK, query="greyhound", top_k=140)

    found = await Retrieval(store=store, embedder=embedder).search(request)

    assert len({chunk.metadata["exchange_id"] for chunk in found.chunks}) == 140
