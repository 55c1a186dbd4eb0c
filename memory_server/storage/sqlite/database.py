"""One database: who owns it, one writer, some readers."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memory_server.errors import (
    StorageCorrupt,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from memory_server.storage.sqlite.connection import FileLock, open_writer
from memory_server.storage.sqlite.failures import translated
from memory_server.storage.sqlite.readers import Readers
from memory_server.storage.sqlite.rewriting import rewrite
from memory_server.storage.sqlite.schema import Migration, migrate
from memory_server.storage.sqlite.writer import Operation, Writer

T = TypeVar("T")


@dataclass(slots=True)
class _Open:
    connection: sqlite3.Connection
    writer: Writer
    readers: Readers | None
    lock: FileLock | None
    schema_version: int


class Database:
    """A SQLite database that one process owns while it is open.

    With no path it is in memory: reads then take their turn between the writes.
    """

    def __init__(self, path: Path | None, migrations: Sequence[Migration]) -> None:
        self._path = path
        self._migrations = migrations
        self._open: _Open | None = None
        self._failure: StorageError | None = None

    @property
    def location(self) -> str:
        """Where the data is, for people."""
        return ":memory:" if self._path is None else str(self._path)

    @property
    def schema_version(self) -> int:
        """The number of the last migration."""
        return self._opened().schema_version

    async def open(self) -> None:
        """Lock the file, bring its schema up to date and start the threads."""
        if self._open is None:
            self._open = await asyncio.to_thread(self._begin)
            self._failure = None

    async def close(self) -> None:
        """Carry out what was queued and let the file go."""
        opened, self._open = self._open, None
        if opened is None:
            return
        await opened.writer.stop()
        if opened.readers is not None:
            await opened.readers.stop()
        with translated(self.location):
            await asyncio.to_thread(opened.connection.close)
        if opened.lock is not None:
            opened.lock.release()

    async def write(self, operation: Operation[T]) -> T:
        """Carry out an operation, wholly or not at all, and return once it is on the disk."""
        writer = self._opened().writer
        try:
            return await writer.run(operation)
        except (StorageFull, StorageUnavailable, StorageCorrupt) as error:
            self._failure = error
            raise

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted; writes wait until it is written anew."""
        opened = self._opened()
        if self._path is not None:
            await opened.writer.run_alone(rewrite)

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a query finds in one snapshot that holds everything acknowledged so far."""
        opened = self._opened()
        if opened.readers is None:
            return await opened.writer.run(query)
        return await opened.readers.run(query)

    def last_failure(self) -> StorageError | None:
        """Return what failed a write since this was asked last, if anything did."""
        failure, self._failure = self._failure, None
        return failure

    def check_writer(self) -> None:
        """Return if what is written now is answered, else raise `StorageUnavailable`."""
        self._opened().writer.check()

    def size_bytes(self) -> int:
        """Return what the files take on the disk."""
        if self._path is None:
            return 0
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        with translated(self.location):
            return sum(file.stat().st_size for file in files if file.exists())

    def _opened(self) -> _Open:
        if self._open is None:
            raise StorageUnavailable(f"{self.location}: the store is not open")
        return self._open

    def _begin(self) -> _Open:
        with translated(self.location), ExitStack() as undo:
            lock = None
            if self._path is not None:
                lock = FileLock(self._path.with_name(f"{self._path.name}.lock"))
                undo.callback(lock.release)
            connection = open_writer(self._path)
            undo.callback(connection.close)
            version = migrate(connection, self._migrations, self.location)
            readers = None if self._path is None else Readers(self._path, self.location)
            undo.pop_all()
            return _Open(connection, Writer(connection, self.location), readers, lock, version)
