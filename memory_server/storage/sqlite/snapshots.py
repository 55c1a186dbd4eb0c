"""Snapshots in SQLite, and the sessions they are taken from."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from memory_server.domain.job import Job
from memory_server.domain.moments import to_micros
from memory_server.domain.snapshot import SessionState, Snapshot
from memory_server.errors import AlreadyPromoted, SnapshotNotFound
from memory_server.ports.snapshots import Snapshots
from memory_server.search.local import documents
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.jobs import enqueue
from memory_server.storage.sqlite.rows import session_of, snapshot_of, snapshot_values

SQL = load("memory_server.storage.sqlite", "snapshots.sql")

PORTION = 100
"""How much is deleted in one write."""

T = TypeVar("T")
Found = dict[str, Any]
"""The key of a row that is to be deleted."""
Deletion = Callable[[Sequence[Found], sqlite3.Connection], int]
"""Deletes some things; returns how many went."""


class SqliteSnapshots(Snapshots):
    """Runs of turns, promoted with their jobs in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def session(self, project_id: str, session_id: str) -> SessionState | None:
        values = {"project_id": project_id, "session_id": session_id}
        found = await self._database.read(lambda db: _read(db, "session", values, session_of))
        return found[0] if found else None

    async def waiting(
        self,
        *,
        min_turns: int,
        idle_since: datetime,
        limit: int,
        skip: int = 0,
        busy_at: int | None = None,
    ) -> Sequence[SessionState]:
        values = {
            "min_turns": min_turns,
            "idle_since": to_micros(idle_since),
            "limit": max(limit, 0),
            "skip": max(skip, 0),
            "busy_at": busy_at,
        }
        return await self._database.read(lambda db: _read(db, "waiting", values, session_of))

    async def promote(self, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        await self._database.write(lambda db: _promote(db, snapshot, jobs))

    async def get(self, project_id: str, snapshot_id: str) -> Snapshot:
        values = {"project_id": project_id, "id": snapshot_id}
        found = await self._database.read(lambda db: _read(db, "get", values, snapshot_of))
        if not found:
            raise SnapshotNotFound(f"no snapshot {snapshot_id!r} in this project")
        return found[0]

    async def delete_promoted_turns(self, *, limit: int) -> int:
        values = {"limit": max(limit, 0)}
        turns = await self._database.read(lambda db: _read(db, "settled_turns", values, dict))
        return await self._delete(_delete_turns, turns)

    async def expire(self, *, before: datetime, limit: int) -> int:
        values = {"before": to_micros(before), "limit": max(limit, 0)}
        snapshots, turns = await self._database.read(lambda db: _outdated(db, values))
        await self._delete(_delete_turns, turns)
        gone = await self._delete(_delete_snapshots, snapshots)
        values["limit"] -= len(snapshots)
        jobs = await self._database.read(lambda db: _read(db, "old_jobs", values, dict))
        return gone + await self._delete(_delete_jobs, jobs)

    async def _delete(self, delete: Deletion, found: Sequence[Found]) -> int:
        """Delete what was found in several writes, between which others get their turn."""
        gone = 0
        for start in range(0, len(found), PORTION):
            portion = found[start : start + PORTION]
            gone += await self._database.write(partial(delete, portion))
        return gone


def skip_erased(connection: sqlite3.Connection, session: Mapping[str, Any]) -> None:
    """Let a session wait from the first of its turns that is left, if it still exists."""
    row = connection.execute(SQL["promoted_seq"], session).fetchone()
    if row is not None:
        connection.execute(SQL["advance"], {**session, **dict(row)})


def _read(
    connection: sqlite3.Connection,
    statement: str,
    values: Mapping[str, Any],
    read: Callable[[sqlite3.Row], T],
) -> list[T]:
    return [read(row) for row in connection.execute(SQL[statement], values)]


def _promote(connection: sqlite3.Connection, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
    values = snapshot_values(snapshot)
    waiting = connection.execute(SQL["waiting_turns"], values).fetchone()
    if waiting["first"] != snapshot.first_seq or not waiting["has_last"]:
        raise AlreadyPromoted(
            f"turns {snapshot.first_seq} to {snapshot.last_seq} of session "
            f"{snapshot.session_id!r} are not the next ones that wait"
        )
    connection.execute(SQL["insert"], values)
    connection.execute(SQL["mark_turns"], values)
    last = snapshot.last_seq
    documents.link_neighbours(
        connection, snapshot.project_id, snapshot.session_id, last - documents.REACH + 1, last
    )
    connection.execute(SQL["advance"], values)
    enqueue(connection, jobs, snapshot_id=snapshot.id)


def _outdated(
    connection: sqlite3.Connection, values: Mapping[str, Any]
) -> tuple[list[Found], list[Found]]:
    """Return snapshots that are to go, and their turns."""
    snapshots: list[Found] = _read(connection, "outdated", values, dict)
    turns: list[Found] = []
    for snapshot in snapshots:
        turns += _read(connection, "turns_of", snapshot, dict)
    return snapshots, turns


def _delete_turns(found: Sequence[Found], connection: sqlite3.Connection) -> int:
    for project_id in {turn["project_id"] for turn in found}:
        ids = [turn["id"] for turn in found if turn["project_id"] == project_id]
        documents.remove(connection, project_id, ids)
    return _delete_each(connection, "delete_turn", found)


def _delete_snapshots(found: Sequence[Found], connection: sqlite3.Connection) -> int:
    _delete_each(connection, "delete_jobs", found)
    return _delete_each(connection, "delete", found)


def _delete_jobs(found: Sequence[Found], connection: sqlite3.Connection) -> int:
    return _delete_each(connection, "delete_job", found)


def _delete_each(connection: sqlite3.Connection, statement: str, found: Sequence[Found]) -> int:
    return connection.executemany(SQL[statement], found).rowcount
