import asyncio
from collections.abc import Sequence

import pytest

from memory_server.domain.chunk import Chunk, Source
from memory_server.errors import KeyRejected, ProviderError, ProviderUnavailable
from memory_server.providers.reranking.absent import NoReranker
from memory_server.services.reranking import Reranking
from tests.rerankers import LastFirst
from tests.unit.memory_server.domain.chunks import a_chunk


@pytest.fixture
def reranker() -> LastFirst:
    return LastFirst()


def chunks(count: int) -> list[Chunk]:
    return [a_chunk(f"text {n}", id=f"c{n}", score=1 - n / 10) for n in range(count)]


def ids(found: Sequence[Chunk]) -> list[str]:
    return [chunk.id for chunk in found]


async def test_only_the_best_so_many_are_judged_and_the_others_stay_behind(
    reranker: LastFirst,
) -> None:
    ordered = await Reranking(reranker).order("q", chunks(5))

    assert ids(ordered.chunks) == ["c2", "c1", "c0", "c3", "c4"]
    assert set(ordered.judged) == {"c0", "c1", "c2"}
    assert (ordered.strategy, ordered.failure) == ("last_first", None)
    assert len(reranker.texts) == 3


async def test_what_the_reranker_said_stands_beside_the_score_of_the_search(
    reranker: LastFirst,
) -> None:
    first, *_ = (await Reranking(reranker).order("q", chunks(3))).chunks

    assert (first.id, first.score, first.metadata["rerank_score"]) == ("c2", 0.8, 2.0)


@pytest.mark.parametrize("failure", [ProviderUnavailable("away"), KeyRejected("no")])
async def test_a_failure_leaves_the_order_and_says_why(
    reranker: LastFirst, failure: ProviderError
) -> None:
    reranker.failure = failure

    ordered = await Reranking(reranker).order("q", chunks(3))

    assert ids(ordered.chunks) == ["c0", "c1", "c2"]
    assert (ordered.strategy, ordered.failure) == (None, str(failure))
    assert not ordered.judged


async def test_a_reranker_that_takes_too_long_is_stopped_and_told_of(
    reranker: LastFirst,
) -> None:
    reranker.hangs = True

    ordered = await Reranking(reranker, seconds=0.01).order("q", chunks(2))

    assert reranker.ended
    assert (ids(ordered.chunks), ordered.failure) == (
        ["c0", "c1"],
        "it took longer than 0.01 s",
    )


async def test_a_request_that_is_given_up_ends_its_rerank(reranker: LastFirst) -> None:
    reranker.hangs = True
    waiting = asyncio.ensure_future(Reranking(reranker).order("q", chunks(2)))
    await reranker.begun.wait()

    waiting.cancel()
    await asyncio.wait([waiting])

    assert waiting.cancelled()
    assert reranker.ended


async def test_where_there_is_no_reranker_the_reason_is_given() -> None:
    ordered = await Reranking(NoReranker("none beside openai")).order("q", chunks(2))

    assert (ids(ordered.chunks), ordered.failure) == (["c0", "c1"], "none beside openai")


async def test_texts_are_judged_with_their_titles_and_speakers(reranker: LastFirst) -> None:
    given = [
        a_chunk("rain", source=Source.EPISODIC, title="Monday"),
        a_chunk("hello", source=Source.STM, role="user", speaker="Ana"),
        a_chunk("", source=Source.STM, role="user"),
    ]

    await Reranking(reranker).order("q", given)

    assert reranker.texts == ["Monday: rain", "Ana: hello", ""]
