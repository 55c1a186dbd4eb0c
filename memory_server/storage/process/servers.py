"""The one server of a SQLite file; in memory, for no other process could ask."""

from collections.abc import Sequence
from datetime import datetime

from memory_server.domain.server import Server
from memory_server.ports.servers import Servers


class ProcessServers(Servers):
    """Servers in the memory of this process."""

    def __init__(self) -> None:
        self._known: dict[str, Server] = {}

    async def report(self, server: Server) -> None:
        self._known[server.id] = server

    async def seen_since(self, moment: datetime) -> Sequence[Server]:
        found = [server for server in self._known.values() if server.seen_at >= moment]
        return sorted(found, key=lambda server: (server.started_at, server.id))

    async def leave(self, server_id: str) -> None:
        self._known.pop(server_id, None)

    async def forget(self, *, before: datetime) -> int:
        gone = [server.id for server in self._known.values() if server.seen_at < before]
        for server_id in gone:
            del self._known[server_id]
        return len(gone)
