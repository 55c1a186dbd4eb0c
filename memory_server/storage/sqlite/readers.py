"""Reading beside the writer: a few connections that see what was committed."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from memory_server.storage.sqlite.connection import open_reader
from memory_server.storage.sqlite.failures import translated

T = TypeVar("T")

CONNECTIONS = 4


class Readers:
    """A bounded pool of threads, each query on a connection and a snapshot of its own."""

    def __init__(self, path: Path, location: str) -> None:
        self._location = location
        self._connections: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        for _ in range(CONNECTIONS):
            self._connections.put(open_reader(path))
        self._executor = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="sqlite-reader")

    async def run(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what the query returns; all its statements see the same snapshot."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._read, query)

    async def stop(self) -> None:
        """Finish what was begun and close the connections."""
        await asyncio.to_thread(self._executor.shutdown)
        while not self._connections.empty():
            self._connections.get().close()

    def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connections.get()
        try:
            with translated(self._location):
                connection.execute("BEGIN")
                return query(connection)
        finally:
            if connection.in_transaction:
                connection.rollback()
            self._connections.put(connection)
