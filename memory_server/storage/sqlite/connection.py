"""Opening the database file: its modes, its pragmas, and the lock of its only server."""

import fcntl
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from memory_server.domain.moments import micros_of_text
from memory_server.errors import StorageLocked
from memory_server.search.local.filter_sql import whole_text

BUSY_TIMEOUT_MS = 5000
"""How long another process, such as a backup, may hold the file before a call fails."""

_WRITER_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA secure_delete = ON",
    "PRAGMA journal_size_limit = 67108864",
)
_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16384",
)


def open_writer(path: Path | None, *, durable: bool = True) -> sqlite3.Connection:
    """Open the connection that writes; None: a database in memory.

    If it is not `durable`, a machine that crashes takes it back to how it was some commits before.
    """
    if path is None:
        return _configured(":memory:", *_PRAGMAS)
    _create(path)
    synced = f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}"
    return _configured(_uri(path, "rw"), *_PRAGMAS, *_WRITER_PRAGMAS, synced)


def open_reader(path: Path) -> sqlite3.Connection:
    """Open a connection that cannot write."""
    return _configured(_uri(path, "ro"), *_PRAGMAS, "PRAGMA query_only = ON")


class FileLock:
    """The lock that one server holds on a database; the system frees it if the server dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock, or raise `StorageLocked` naming the process that has it."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 32).decode().strip() or "unknown"
            os.close(self._file)
            raise StorageLocked(
                f"{path}: process {holder} has this store open; stop it, or use another directory"
            ) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let the lock go; the file stays, for a file that is removed can be locked twice."""
        os.close(self._file)


def _create(path: Path) -> None:
    """Make the file before SQLite does: its journal files take over its mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def _configured(database: str, *pragmas: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        database, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.row_factory = sqlite3.Row
        connection.create_function("micros", 1, micros_of_text, deterministic=True)
        connection.create_function("whole_text", 1, whole_text, deterministic=True)
        for pragma in pragmas:
            connection.execute(pragma).fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
