"""Finding memories and turns by words and by meaning."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.filters import Filter
from memory_server.domain.memory import Memory
from memory_server.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What one leg may return: the same for every leg of a query."""

    scope: Scope
    source: Source
    custom_type: str | None = None
    """Of the source `custom`: whose records. Without it, that source holds nothing."""
    filter: Filter | None = None
    as_of: datetime | None = None
    """None: live memories. A moment: the versions that held then. Turns have no versions."""
    limit: int

    @property
    def asks_the_past(self) -> bool:
        """Whether versions of the past may be found; turns have none."""
        return self.as_of is not None and self.source is not Source.STM

    def holds(self, memory: Memory) -> bool:
        """Whether a memory of the scope, as it is stored now, may be found at all.

        An index that follows the changes of other servers may be a moment behind them.
        """
        if self.as_of is None or memory.deleted:
            return memory.is_live
        return memory.valid_from <= self.as_of and (
            memory.valid_to is None or memory.valid_to > self.as_of
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """One find; higher scores are better. Ties are in the order of the id."""

    id: str
    score: float


class SearchIndex(Protocol):
    """Searches what the store holds; what this server wrote before a search began is found.

    What other servers wrote is found as soon as this one has heard of it, and what they deleted
    may be found until then: callers read what was found from the store before they show it.
    """

    @abstractmethod
    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        """Return the documents that hold any of the terms, by BM25 (positive, unbounded).

        Terms are what `domain.words.query_terms` makes of a query: plain tokens, never syntax.
        """
        ...

    @abstractmethod
    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        """Return the nearest documents of that space, by cosine (-1 to 1). Exact."""
        ...

    @abstractmethod
    async def describe(self) -> Mapping[str, Any]:
        """Return what readiness reports: `kind`, sizes, memory in use and its bound in bytes.

        An index that cannot answer yet says so by `is_ready` and `state`, one that is not kept up
        to date by `problem`.
        """
        ...
