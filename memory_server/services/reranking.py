"""Reordering what was found by a second reading; without it the order stays."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_server.domain.chunk import Chunk
from memory_server.domain.formats import spoken
from memory_server.domain.ranking import reorder
from memory_server.errors import ProviderError, ProviderUnavailable
from memory_server.ports.reranker import Reranker

logger = logging.getLogger(__name__)

SECONDS = 5.0
"""How long a request waits for its rerank before it goes on without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """The finds in their order, and how that came about."""

    chunks: Sequence[Chunk]
    strategy: str | None = None
    """The name of the reranker; None: the order is the one that was given."""
    judged: Collection[str] = ()
    """Ids of what the reranker put in order: the best so many of the finds."""
    failure: str | None = None


class Reranking:
    """Asks a reranker, within bounds of number and time."""

    def __init__(self, reranker: Reranker, *, seconds: float = SECONDS) -> None:
        self._reranker = reranker
        self._seconds = seconds

    async def order(self, query: str, chunks: Sequence[Chunk]) -> Reordered:
        """Return the chunks, the best so many in a new order, the others behind as they were.

        A reranker that fails, is absent or takes too long changes nothing; `failure` says why.
        """
        best = chunks[: self._reranker.candidates]
        try:
            async with asyncio.timeout(self._seconds):
                relevance = await self._reranker.relevance(query, [spoken(one) for one in best])
        except TimeoutError:
            return _unchanged(
                chunks, ProviderUnavailable(f"it took longer than {self._seconds:g} s")
            )
        except ProviderError as error:
            return _unchanged(chunks, error)
        ordered = reorder(best, relevance, weight=self._reranker.weight)
        return Reordered(
            chunks=[*ordered, *chunks[len(best) :]],
            strategy=self._reranker.name,
            judged={chunk.id for chunk in best},
        )


def _unchanged(chunks: Sequence[Chunk], error: ProviderError) -> Reordered:
    logger.warning("a rerank failed, and the order stays: %s", error.code)
    return Reordered(chunks=chunks, failure=str(error))
