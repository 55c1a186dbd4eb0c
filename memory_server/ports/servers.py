"""Which servers are at work on the store."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory_server.domain.server import Server


class Servers(Protocol):
    """Servers by id, as they reported themselves last."""

    @abstractmethod
    async def report(self, server: Server) -> None:
        """Keep how a server is now."""
        ...

    @abstractmethod
    async def seen_since(self, moment: datetime) -> Sequence[Server]:
        """Return the servers that reported themselves then or later, the oldest first."""
        ...

    @abstractmethod
    async def leave(self, server_id: str) -> None:
        """Forget a server that ends; nothing happens if it is not known."""
        ...

    @abstractmethod
    async def forget(self, *, before: datetime) -> int:
        """Forget the servers that were not heard of since a moment; return how many."""
        ...
