"""The index file of one process: the entries and, in the same transaction, how new they are."""

import asyncio
import logging
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import TypeVar

from memory_server.domain.chunk import Source as MemorySource
from memory_server.domain.memory import MemoryType
from memory_server.errors import (
    MemoryServerError,
    StorageCorrupt,
    StorageLocked,
    StorageUnavailable,
)
from memory_server.search.local import documents
from memory_server.search.local.documents import reach_of
from memory_server.search.local.statements import load
from memory_server.storage.mongo.collections import MEMORIES, TURNS
from memory_server.storage.mongo.mirror.marks import Key
from memory_server.storage.mongo.mirror.source import Entry
from memory_server.storage.sqlite.connection import FileLock
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.rewriting import rewrite
from memory_server.storage.sqlite.schema import Migration, migrations

logger = logging.getLogger(__name__)

T = TypeVar("T")

SQL = load("memory_server.storage.mongo.mirror", "cache.sql")

MOST_PROCESSES = 256
"""How many processes of one machine may mirror a database from one data directory."""

_Place = tuple[str, MemorySource, str, int]
"""Project, source, session or conversation, and the number in it."""

Make = Callable[[], Entry]
"""Makes an entry of what was read: work for the thread that writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a mirror has come; the columns are explained in `schema.sql`."""

    token: bytes | None = None
    stage: int | None = None
    after: str | None = None
    loaded: int = 0
    complete: bool = False
    reason: str | None = None
    begun_at: int | None = None
    """Microseconds since 1970."""


class Cache:
    """The index file of one process, or an index in memory.

    A machine that crashes takes the file back to an earlier commit, and the token with it: so
    what is missing then is told again by the stream.
    """

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._deployment: str | None = None
        self._database: Database | None = None

    async def open(self, deployment: str) -> Progress:
        """Open the first file that no other process has; return how far its mirror has come.

        `deployment` tells the database that is mirrored from all others.
        """
        self._deployment = deployment
        if self._directory is None:
            self._database = await _opened(None)
        else:
            await asyncio.to_thread(_remove_outdated, self._directory, deployment)
            self._database = await _first_free(self._directory, deployment)
        return await self.read(_progress)

    async def close(self) -> None:
        """Let the file go."""
        database, self._database = self._database, None
        if database is not None:
            await database.close()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a query finds in one snapshot."""
        return await self._opened().read(query)

    async def write(self, made: Mapping[Key, Make | None], progress: Progress) -> None:
        """Bring documents to their new state, those without one out, and note the progress."""

        def write(connection: sqlite3.Connection) -> None:
            _refresh(connection, made)
            connection.execute(SQL["set_state"], asdict(progress))

        await self._opened().write(write)

    async def indexed(self, *, after: str | None, limit: int) -> tuple[Sequence[Key], str]:
        """Return what is indexed, in portions, and after what the next portion begins."""
        where = {"after": int(after or 0), "limit": limit}
        rows = await self.read(lambda db: db.execute(SQL["indexed"], where).fetchall())
        keys = [Key(_collection(row["source"]), row["project_id"], row["id"]) for row in rows]
        return keys, str(rows[-1]["rowid"]) if rows else ""

    async def has_traces(self) -> bool:
        """Whether words of what was taken out may still be in the file."""
        row = await self.read(lambda db: db.execute(SQL["traces"]).fetchone())
        return self._directory is not None and bool(row["traces"])

    async def remove_traces(self) -> None:
        """Leave nothing in the file of what was taken out; writes wait meanwhile."""
        await self._opened().alone(_remove_traces)

    async def remove_abandoned(self, *, before: datetime) -> None:
        """Remove the files that no process has open and none has written to since a moment.

        They are of processes that there are no more, and hear of nothing that is erased.
        """
        if self._directory is not None and self._deployment is not None:
            await asyncio.to_thread(_remove_abandoned, self._directory, self._deployment, before)

    def _opened(self) -> Database:
        if self._database is None:
            raise StorageUnavailable("search index: the store is not open")
        return self._database


async def _first_free(directory: Path, deployment: str) -> Database:
    for number in range(MOST_PROCESSES):
        path = directory / f"{_prefix(deployment)}{_SCHEMA}-{number}.sqlite"
        try:
            return await _opened(path)
        except StorageLocked:
            continue
        except StorageCorrupt:
            logger.warning("%s cannot be read; the index is loaded anew", path)
            await asyncio.to_thread(_remove, path)
            return await _opened(path)
    raise StorageLocked(
        f"{directory}: {MOST_PROCESSES} processes mirror {deployment} from here already"
    )


def _steps() -> Sequence[Migration]:
    local = migrations(("memory_server.search.local",))
    own = resources.files(__package__ or "").joinpath("schema.sql").read_text(encoding="utf-8")
    return [Migration(1, "\n".join([*(step.script for step in local), own]))]


_SCHEMA = f"{zlib.crc32(_steps()[0].script.encode()):08x}"


async def _opened(path: Path | None) -> Database:
    database = Database(path, _steps(), durable=False)
    await database.open()
    return database


def _prefix(deployment: str) -> str:
    return f"index-{zlib.crc32(deployment.encode()):08x}-"


def remove_unused(directory: Path, deployment: str) -> None:
    """Remove every index file of a database that no process has open: none is needed."""
    _remove_unlocked(directory.glob(f"{_prefix(deployment)}*.sqlite"))


def _remove_outdated(directory: Path, deployment: str) -> None:
    """Remove the files of other versions of the index that no process has open."""
    current = f"{_prefix(deployment)}{_SCHEMA}-"
    files = directory.glob(f"{_prefix(deployment)}*.sqlite")
    _remove_unlocked(path for path in files if not path.name.startswith(current))


def _remove_abandoned(directory: Path, deployment: str, before: datetime) -> None:
    files = directory.glob(f"{_prefix(deployment)}*.sqlite")
    _remove_unlocked(path for path in files if _is_older(path, before))


def _is_older(path: Path, moment: datetime) -> bool:
    try:
        return path.stat().st_mtime < moment.timestamp()
    except FileNotFoundError:  # another process was faster
        return False


def _remove_unlocked(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            lock = FileLock(path.with_name(f"{path.name}.lock"))
        except StorageLocked:
            continue
        _remove(path)
        lock.release()


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _progress(connection: sqlite3.Connection) -> Progress:
    row = dict(connection.execute(SQL["state"]).fetchone())
    return Progress(**row | {"complete": bool(row["complete"])})


def _remove_traces(connection: sqlite3.Connection) -> None:
    rewrite(connection)
    connection.execute(SQL["set_traces"], {"traces": False})


def _collection(source: str) -> str:
    if source == MemorySource.STM.value:
        return TURNS
    return MEMORIES[MemoryType(source.partition(".")[0])]


def _refresh(connection: sqlite3.Connection, made: Mapping[Key, Make | None]) -> None:
    changed: set[_Place] = set()
    gone: list[Key] = []
    for key, make in made.items():
        entry = None if make is None else _attempted(key, make)
        if entry is None:
            gone.append(key)
        else:
            changed.update(_put(connection, entry))
    _link(connection, changed | _remove_documents(connection, gone))


def _attempted(key: Key, make: Make) -> Entry | None:
    """Return the entry, or None for a document that another program must have written."""
    try:
        return make()
    except (LookupError, TypeError, ValueError, MemoryServerError):
        logger.exception("%s %r cannot be read, and is not found", key.collection, key.id)
        return None


def _put(connection: sqlite3.Connection, entry: Entry) -> Iterable[_Place]:
    document = entry.document
    documents.put(connection, document)
    documents.keep_vectors(connection, document.project_id, document.id, entry.vectors)
    if document.session_id is None or document.position is None:
        return []
    if entry.promoted:
        promoted = {
            "project_id": document.project_id,
            "session_id": document.session_id,
            "position": document.position,
        }
        connection.execute(SQL["promote"], promoted)
    return [(document.project_id, document.source, document.session_id, document.position)]


def _remove_documents(connection: sqlite3.Connection, keys: Sequence[Key]) -> set[_Place]:
    """Take documents out; return the places in which there was a turn or an exchange."""
    places: set[_Place] = set()
    for project_id in {key.project_id for key in keys}:
        ids = [key.id for key in keys if key.project_id == project_id]
        known = [
            row
            for document_id in ids
            if (row := _turn_of(connection, project_id, document_id)) is not None
        ]
        if known:
            documents.remove(connection, project_id, ids)
            connection.execute(SQL["set_traces"], {"traces": True})
        places |= {
            (project_id, MemorySource(row["source"]), row["session_id"], row["position"])
            for row in known
            if row["position"] is not None
        }
    return places


def _turn_of(
    connection: sqlite3.Connection, project_id: str, document_id: str
) -> sqlite3.Row | None:
    where = {"project_id": project_id, "id": document_id}
    row: sqlite3.Row | None = connection.execute(SQL["turn"], where).fetchone()
    return row


def _link(connection: sqlite3.Connection, changed: Iterable[_Place]) -> None:
    """Index what is said around the turns that changed, and around those near them."""
    sessions: dict[tuple[str, MemorySource, str], set[int]] = {}
    for project_id, source, session_id, position in changed:
        reach = reach_of(source)
        near = range(position - reach, position + reach + 1)
        sessions.setdefault((project_id, source, session_id), set()).update(near)
    for (project_id, source, session_id), positions in sessions.items():
        where = {"project_id": project_id, "session_id": session_id}
        connection.execute(SQL["forget_promotion"], where)
        row = connection.execute(SQL["promoted_seq"], where).fetchone()
        settled = 0 if row is None else row["promoted_seq"]
        for first, last in _runs(positions):
            documents.link_neighbours(
                connection, project_id, session_id, first, last, source=source, settled=settled
            )


def _runs(numbers: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Yield the runs of numbers without gaps, by their first and last ones."""
    ordered = sorted(numbers)
    first = ordered[0]
    for one, following in zip(ordered, [*ordered[1:], None], strict=True):
        if following != one + 1:
            yield first, one
            first = following if following is not None else first
