"""The seam at which the driver's errors become the program's own."""

import errno
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from memory_server.errors import (
    InvalidRequest,
    MemoryServerError,
    ProjectNotFound,
    StorageCorrupt,
    StorageError,
    StorageFull,
    StorageUnavailable,
    TooLarge,
)

_BY_SQLITE_CODE: Mapping[int, type[MemoryServerError]] = {
    sqlite3.SQLITE_FULL: StorageFull,
    sqlite3.SQLITE_BUSY: StorageUnavailable,
    sqlite3.SQLITE_LOCKED: StorageUnavailable,
    sqlite3.SQLITE_READONLY: StorageUnavailable,
    sqlite3.SQLITE_CANTOPEN: StorageUnavailable,
    sqlite3.SQLITE_PERM: StorageUnavailable,
    sqlite3.SQLITE_AUTH: StorageUnavailable,
    sqlite3.SQLITE_IOERR: StorageUnavailable,
    sqlite3.SQLITE_NOMEM: StorageUnavailable,
    sqlite3.SQLITE_INTERRUPT: StorageUnavailable,
    sqlite3.SQLITE_PROTOCOL: StorageUnavailable,
    sqlite3.SQLITE_CORRUPT: StorageCorrupt,
    sqlite3.SQLITE_NOTADB: StorageCorrupt,
    sqlite3.SQLITE_FORMAT: StorageCorrupt,
    sqlite3.SQLITE_TOOBIG: TooLarge,
}

_BY_ERRNO: Mapping[int, type[MemoryServerError]] = {
    errno.ENOSPC: StorageFull,
    errno.EDQUOT: StorageFull,
    errno.EFBIG: StorageFull,
}

_ADVICE: Mapping[type[MemoryServerError], str] = {
    StorageFull: "free some disk space; the same call then works",
    StorageUnavailable: "check that the file and its directory can be read and written",
    StorageCorrupt: "restore the file from a backup, or move it away to begin anew",
}


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Let nothing of sqlite3 or the file system pass; `location` names the database."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidRequest("a text holds half of a surrogate pair; send valid Unicode") from error
    except OSError as error:
        found = _BY_ERRNO.get(error.errno or 0, StorageUnavailable)
        raise _explained(found, location, error.strerror or str(error)) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
            raise ProjectNotFound(str(error)) from error  # the only triggers that refuse
        raise _explained(_class_of(error), location, str(error)) from error


def _class_of(error: sqlite3.Error) -> type[MemoryServerError]:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return _BY_SQLITE_CODE.get(code & 0xFF, StorageError)
    closed = isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error)
    return StorageUnavailable if closed else StorageError


def _explained(found: type[MemoryServerError], location: str, reason: str) -> MemoryServerError:
    advice = _ADVICE.get(found)
    return found(f"{location}: {reason}" + (f"; {advice}" if advice else ""))
