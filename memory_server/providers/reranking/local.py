"""Reranking in this process, with the model that embeds: late interaction.

Each word of the question is compared with every word of a text, where a search compares one
vector with one vector; a text counts as well as the question's words find their like in it.
Words that questions are made of are left out.

What it is worth is measured by `benchmarks/reranking.py` and `benchmarks/ablation`: where an
inference leads to the answer it helps; turns that a hybrid search has weighed already it leaves
about as they are. Alone, without the scores of the search, it loses points of recall: hence its
weight.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.words import QUESTION_WORDS
from memory_server.errors import ProviderUnavailable
from memory_server.ports.reranker import Reranker
from memory_server.providers.embedding.inference_thread import InferenceThread
from memory_server.providers.embedding.vectors import readable

LONGEST_QUERY = 64
LONGEST_TEXT = 128
"""Pieces of words that are read, about 100 words of English: what is longer is judged by its
beginning."""
CHARACTERS = 32
"""Of one piece, white space around it included, at the most on average: the rest of a text is not
even taken apart."""
AT_ONCE = 8
"""Texts that are read before a cancelled call can end, about 50 ms."""
WAITING = 8
"""Calls that may wait for the one that computes; the next is told so at once."""

Matrix = NDArray[np.float32]
T = TypeVar("T")


class WordModel(Protocol):
    """A model that knows what each word means where it stands; used by one thread only."""

    def load(self) -> None:
        """Make the model ready, or raise `ProviderMissing`."""
        ...

    def words(self, text: str, *, limit: int) -> tuple[Sequence[str], Matrix]:
        """Return the first pieces of words, and their unit vectors of shape (pieces, any)."""
        ...


class LocalReranker(Reranker):
    """Computes in a thread of its own, one call after the other, a few texts at a time.

    The model is loaded by the first call. A call that is cancelled ends after its current texts.
    """

    name = "local_rerank"
    candidates = 40
    weight = 0.5

    def __init__(self, model: WordModel) -> None:
        self._model = model
        self._thread = InferenceThread("rerank")
        self._loaded = False
        self._at_work = asyncio.Lock()
        self._calls = 0

    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        async with self._turn():
            asked = await self._run(partial(self._question, query))
            scores: list[float | None] = []
            for start in range(0, len(texts), AT_ONCE):
                some = texts[start : start + AT_ONCE]
                scores += await self._run(partial(self._scores, asked, some))
            return scores

    async def close(self) -> None:
        await self._thread.close()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for the calls before; so the first are answered in time when there are too many."""
        if self._calls > WAITING:
            raise ProviderUnavailable(f"the local reranker is busy with {self._calls} other calls")
        self._calls += 1
        try:
            async with self._at_work:
                yield
        finally:
            self._calls -= 1

    async def _run(self, work: Callable[[], T]) -> T:
        return await self._thread.run(work, urgent=True)

    def _question(self, query: str) -> Matrix:
        if not self._loaded:
            self._model.load()
            self._loaded = True
        pieces, vectors = self._words(query, LONGEST_QUERY)
        telling = [number for number, piece in enumerate(pieces) if _tells(piece)]
        return vectors[telling] if telling else vectors

    def _scores(self, asked: Matrix, texts: Sequence[str]) -> Sequence[float | None]:
        return [self._score(asked, text) for text in texts]

    def _score(self, asked: Matrix, text: str) -> float | None:
        _, vectors = self._words(text, LONGEST_TEXT)
        if not len(asked) or not len(vectors):
            return None
        return float((asked @ vectors.T).max(axis=1).mean())

    def _words(self, text: str, limit: int) -> tuple[Sequence[str], Matrix]:
        return self._model.words(readable(text[: limit * CHARACTERS]), limit=limit)


def _tells(piece: str) -> bool:
    return piece not in QUESTION_WORDS and any(character.isalnum() for character in piece)
