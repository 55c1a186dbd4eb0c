"""A stand-in for an embedding model: hashing instead of learning."""

import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose, Vector
from memory_server.errors import ProviderError, ProviderUnavailable
from memory_server.ports.embedder import Embedder
from memory_server.providers.embedding.vectors import (
    NOTHING_TO_EMBED,
    embedded,
    readable,
    unit,
)

WORD_WEIGHT = 1.0
PIECE_WEIGHT = 0.4
"""A word outweighs one of its pieces; together the pieces bring inflections near each other."""
PIECE_LENGTH = 3

UNRELATED = 0.03
SAME = 0.62
"""Medians over 20 sentences, each with a paraphrase and a question, in 256 dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call, as it came in."""

    texts: Sequence[str]
    purpose: Purpose


class HashingEmbedder(Embedder):
    """Texts that share words, or pieces of words, are near; meaning is not understood.

    Needs no file and no network, gives the same vectors in every process, and remembers in
    `asked` what it was asked. Set `failure` to make the next calls raise it.
    """

    def __init__(
        self, *, model: str = "hashing", dimension: int = 256, refuses: Collection[str] = ()
    ) -> None:
        self._space = EmbeddingSpace(
            model=model, dimension=dimension, unrelated=UNRELATED, same=SAME
        )
        self._refuses = frozenset(refuses)
        self._closed = False
        self.asked: list[Asked] = []
        self.failure: ProviderError | None = None

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        await self.check()
        self.asked.append(Asked(texts=tuple(texts), purpose=purpose))
        return embedded([self._outcome(text) for text in texts])

    async def check(self) -> None:
        if self._closed:
            raise ProviderUnavailable("This embedder has been closed; build another.")
        if self.failure is not None:
            raise self.failure

    async def close(self) -> None:
        self._closed = True

    def _outcome(self, text: str) -> Vector | str:
        if not text.strip():
            return NOTHING_TO_EMBED
        if text in self._refuses:
            return "refused by the test"
        return _hashed(text, self._space.dimension)


def _hashed(text: str, dimension: int) -> Vector:
    """Add up the features of every word, each at its hashed place with its hashed sign."""
    numbers = np.zeros(dimension)
    for word in re.findall(r"\w+", text.casefold()) or [text.strip()]:
        for digest, weight in _features(readable(word)):
            numbers[digest // 2 % dimension] += weight if digest % 2 else -weight
    vector = unit(numbers)
    return _axis(text, dimension) if vector is None else vector


def _axis(text: str, dimension: int) -> Vector:
    """Return the axis that a text hashes to: for the rare text whose features cancel out."""
    axis = np.zeros(dimension, dtype=np.float32)
    axis[zlib.crc32(readable(text).encode()) % dimension] = 1.0
    return axis


@lru_cache(maxsize=4096)
def _features(word: str) -> Sequence[tuple[int, float]]:
    """Return the hashes of a word and of its pieces, with their weights."""
    whole = (zlib.crc32(word.encode()), WORD_WEIGHT)
    return (whole, *((zlib.crc32(piece.encode()), PIECE_WEIGHT) for piece in _pieces(word)))


def _pieces(word: str) -> Iterator[str]:
    marked = f"<{word}>"
    for start in range(len(marked) - PIECE_LENGTH + 1):
        yield marked[start : start + PIECE_LENGTH]
