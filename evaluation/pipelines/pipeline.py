"""What a way of remembering has to do."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from evaluation.pipelines.place import Place
from evaluation.records import FoundItem
from memory_server.client import MemoryServerClient

Timing = dict[str, list[float]]
"""Milliseconds of each call, by stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What became of one conversation."""

    stored: Mapping[str, int]
    timing: Mapping[str, Sequence[float]] = field(default_factory=dict)
    calls: int = 0
    """Of a model, those that failed among them."""
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What one search brought, the best first."""

    found: Sequence[FoundItem]
    timing: Mapping[str, float]


class Pipeline(Protocol):
    """One way of remembering conversations and of asking for them."""

    @property
    @abstractmethod
    def name(self) -> str:
        """As a suite names it."""
        ...

    @property
    @abstractmethod
    def stores(self) -> str:
        """What it makes of a conversation: pipelines that store the same share it."""
        ...

    @property
    @abstractmethod
    def extracts(self) -> bool:
        """Whether memories are extracted, which takes a server that does."""
        ...

    @abstractmethod
    def searching(self) -> Mapping[str, Any]:
        """Return what decides the order of a search, beside mode and depth."""
        ...

    @abstractmethod
    async def ingest(
        self, client: MemoryServerClient, place: Place, *, advance: Callable[[], None]
    ) -> Ingested:
        """Store a conversation whole, with all background work done.

        What is stored already of it is not stored twice; `advance` is called for each turn.
        Raises `StoredDifferently` where the server holds something else, and `WorkFailed`.
        """
        ...

    @abstractmethod
    async def search(
        self, client: MemoryServerClient, place: Place, query: str, *, mode: str, depth: int
    ) -> Searched:
        """Search what was stored of a conversation."""
        ...
