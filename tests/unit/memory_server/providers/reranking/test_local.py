import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from memory_server.errors import ProviderMissing, ProviderUnavailable
from memory_server.providers.reranking.local import (
    AT_ONCE,
    CHARACTERS,
    LONGEST_TEXT,
    WAITING,
    LocalReranker,
    Matrix,
)


class Letters:
    """A model in which words mean their first letter. Holds still where it is told to."""

    def __init__(self, *, missing: bool = False) -> None:
        self._missing = missing
        self.read: list[str] = []
        self.limits: set[int] = set()
        self.longest = 0
        self.holding_at: str | None = None
        self.held = threading.Event()
        self.going_on = threading.Event()

    def load(self) -> None:
        if self._missing:
            raise ProviderMissing("install it")
        self.read.append("<loaded>")

    def words(self, text: str, *, limit: int) -> tuple[Sequence[str], Matrix]:
        self.read.append(text)
        self.limits.add(limit)
        self.longest = max(self.longest, len(text))
        if text == self.holding_at:
            self.held.set()
            self.going_on.wait()
        pieces = text.split()[:limit]
        vectors = np.zeros((len(pieces), 26), np.float32)
        for row, piece in enumerate(pieces):
            vectors[row, ord(piece[0]) % 26] = 1.0
        return pieces, vectors


@pytest.fixture
def model() -> Letters:
    return Letters()


@pytest.fixture
async def reranker(model: Letters) -> AsyncIterator[LocalReranker]:
    built = LocalReranker(model)
    yield built
    model.going_on.set()
    await built.close()


async def test_a_text_counts_as_well_as_the_querys_words_find_their_like(
    reranker: LocalReranker,
) -> None:
    texts = ["apples bananas", "bananas", "dates", "apples"]

    assert await reranker.relevance("apples bananas", texts) == [1.0, 0.5, 0.0, 0.5]


async def test_words_that_a_question_is_made_of_do_not_count(reranker: LocalReranker) -> None:
    assert await reranker.relevance("who has the apples ?", ["apples", "who has the"]) == [1.0, 0.0]


async def test_a_question_of_such_words_only_is_asked_as_it_is(reranker: LocalReranker) -> None:
    assert await reranker.relevance("who is", ["who", "apples"]) == [0.5, 0.0]


async def test_a_text_without_words_has_no_score(reranker: LocalReranker) -> None:
    assert await reranker.relevance("apples", ["", "apples"]) == [None, 1.0]
    assert await reranker.relevance("", ["apples"]) == [None]
    assert await reranker.relevance("apples", []) == []


async def test_every_text_of_a_long_list_has_its_own_score(reranker: LocalReranker) -> None:
    texts = ["apples" if number % 3 else "dates" for number in range(AT_ONCE * 2 + 1)]

    scores = await reranker.relevance("apples", texts)

    assert scores == [1.0 if text == "apples" else 0.0 for text in texts]


async def test_half_a_character_is_no_error(reranker: LocalReranker) -> None:
    assert await reranker.relevance("apples \ud83d", ["apples \ud83d"]) == [1.0]


async def test_the_model_is_loaded_once_and_reads_no_more_than_the_limit(
    model: Letters, reranker: LocalReranker
) -> None:
    await reranker.relevance("a", ["a"])
    await reranker.relevance("a", ["a"])

    assert model.read.count("<loaded>") == 1
    assert LONGEST_TEXT in model.limits


async def test_of_a_long_text_only_its_beginning_is_taken_apart(
    reranker: LocalReranker, model: Letters
) -> None:
    await reranker.relevance("apple " * 100_000, ["apple " * 100_000])

    assert model.longest == LONGEST_TEXT * CHARACTERS


async def test_a_model_that_is_not_installed_says_so() -> None:
    reranker = LocalReranker(Letters(missing=True))

    with pytest.raises(ProviderMissing, match="install it"):
        await reranker.relevance("a", ["a"])
    await reranker.close()


async def test_a_cancelled_call_ends_after_its_current_few_texts(
    model: Letters, reranker: LocalReranker
) -> None:
    model.holding_at = "first"
    texts = ["first", *["same"] * (AT_ONCE - 1), "next"]
    call = asyncio.ensure_future(reranker.relevance("a", texts))
    await asyncio.to_thread(model.held.wait)

    call.cancel()
    model.going_on.set()
    await asyncio.wait([call])

    assert await reranker.relevance("a", ["fourth"]) == [0.0]
    assert call.cancelled()
    assert "next" not in model.read


async def test_calls_beyond_those_that_may_wait_are_told_at_once(
    model: Letters, reranker: LocalReranker
) -> None:
    model.holding_at = "held"
    calls = [asyncio.ensure_future(reranker.relevance("a", ["held"])) for _ in range(WAITING + 1)]
    await asyncio.to_thread(model.held.wait)

    with pytest.raises(ProviderUnavailable, match="busy"):
        await reranker.relevance("a", ["a"])
    model.going_on.set()
    assert await asyncio.gather(*calls) == [[0.0]] * (WAITING + 1)
    assert await reranker.relevance("a", ["a"]) == [1.0]


async def test_a_closed_reranker_says_so(reranker: LocalReranker) -> None:
    await reranker.close()

    with pytest.raises(ProviderUnavailable, match="closed"):
        await reranker.relevance("a", ["a"])
