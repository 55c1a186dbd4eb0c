"""What this server wrote lately, as a search by Atlas sees it."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Protocol

from memory_server.domain.chunk import Source
from memory_server.ports.search import SearchIndex


class Recent(Protocol):
    """The documents that this server wrote and of which Atlas may not know yet."""

    @property
    @abstractmethod
    def index(self) -> SearchIndex:
        """A small index over these documents, as they are stored now."""
        ...

    @abstractmethod
    async def catch_up(self) -> None:
        """Bring all into the index that was written before the call."""
        ...

    @abstractmethod
    def ids(self, source: Source, project_id: str) -> Collection[str]:
        """Return what Atlas' finds of do not count: what was written lately, or removed."""
        ...
