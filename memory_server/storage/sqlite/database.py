"""One database: who owns it, one writer, some readers."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from memory_server.errors import (
    NoBackup,
    StorageCorrupt,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from memory_server.storage.sqlite.connection import FileLock, open_writer
from memory_server.storage.sqlite.copying import copied, copy_of, open_moment, remove_leftovers
from memory_server.storage.sqlite.failures import translated
from memory_server.storage.sqlite.readers import Readers
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

    def __init__(
        self, path: Path | None, migrations: Sequence[Migration], *, durable: bool = True
    ) -> None:
        """Prepare it; what is not `durable` may lose its last commits when the machine crashes."""
        self._path = path
        self._durable = durable
        self._migrations = migrations
        self._open: _Open | None = None
        self._failure: StorageError | None = None
        self._moments = 0

    @property
    def is_held(self) -> bool:
        """Whether somebody looks at a moment of the past, so that nothing of it can go yet."""
        return self._moments > 0

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

    async def alone(self, operation: Operation[T]) -> T:
        """Carry out an operation outside of any transaction, while all writes wait."""
        return await self._opened().writer.run_alone(operation)

    async def moment(self) -> sqlite3.Connection:
        """Return a connection that sees what is stored now, whatever is written later.

        Whoever asked for it closes it and calls `let_go`; until then the write-ahead log keeps
        what it sees.
        """
        opened = self._opened()
        self._moments += 1
        try:
            if self._path is None:
                return await opened.writer.run_alone(copied)
            with translated(self.location):
                return await asyncio.to_thread(open_moment, self._path)
        except BaseException:
            self._moments -= 1
            raise

    def let_go(self) -> None:
        """Note that a connection of `moment` is closed."""
        self._moments -= 1

    async def copy(self) -> IO[bytes]:
        """Return a consistent copy of the file, open, which is gone once it is closed."""
        self._opened()
        if self._path is None:
            raise NoBackup("this store is in memory and has no file to copy")
        self._moments += 1
        try:
            with translated(self.location):
                return await asyncio.to_thread(copy_of, self._path)
        finally:
            self._moments -= 1

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
                remove_leftovers(self._path)
            connection = open_writer(self._path, durable=self._durable)
            undo.callback(connection.close)
            version = migrate(connection, self._migrations, self.location)
            readers = None if self._path is None else Readers(self._path, self.location)
            undo.pop_all()
            return _Open(connection, Writer(connection, self.location), readers, lock, version)
