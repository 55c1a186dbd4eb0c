"""Snapshots in SQLite, and the sessions they are taken from."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from memory_server.domain.job import Job
from memory_server.domain.snapshot import SessionState, Snapshot
from memory_server.errors import AlreadyPromoted, SnapshotNotFound
from memory_server.ports.snapshots import Snapshots
from memory_server.search.local import documents
from memory_server.search.local.moments import to_micros
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.jobs import enqueue
from memory_server.storage.sqlite.rows import session_of, snapshot_of, snapshot_values

SQL = load("memory_server.storage.sqlite", "snapshots.sql")


class SqliteSnapshots(Snapshots):
    """Runs of turns, promoted with their jobs in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def session(self, project_id: str, session_id: str) -> SessionState | None:
        values = {"project_id": project_id, "session_id": session_id}
        row = await self._database.read(lambda db: db.execute(SQL["session"], values).fetchone())
        return None if row is None else session_of(row)

    async def waiting(
        self, *, min_turns: int, idle_since: datetime, limit: int
    ) -> Sequence[SessionState]:
        values = {
            "min_turns": min_turns,
            "idle_since": to_micros(idle_since),
            "limit": max(limit, 0),
        }
        rows = await self._database.read(lambda db: db.execute(SQL["waiting"], values).fetchall())
        return [session_of(row) for row in rows]

    async def promote(self, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        await self._database.write(lambda db: _promote(db, snapshot, jobs))

    async def get(self, project_id: str, snapshot_id: str) -> Snapshot:
        values = {"project_id": project_id, "id": snapshot_id}
        row = await self._database.read(lambda db: db.execute(SQL["get"], values).fetchone())
        if row is None:
            raise SnapshotNotFound(f"no snapshot {snapshot_id!r} in this project")
        return snapshot_of(row)

    async def delete_promoted_turns(self, *, limit: int) -> int:
        return await self._database.write(lambda db: _delete_promoted_turns(db, limit))

    async def expire(self, *, before: datetime, limit: int) -> int:
        return await self._database.write(lambda db: _expire(db, to_micros(before), limit))


def _promote(connection: sqlite3.Connection, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
    values = snapshot_values(snapshot)
    if not connection.execute(SQL["advance"], values).rowcount:
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
    enqueue(connection, jobs, snapshot_id=snapshot.id)


def _delete_promoted_turns(connection: sqlite3.Connection, limit: int) -> int:
    turns = connection.execute(SQL["settled_turns"], {"limit": max(limit, 0)}).fetchall()
    for row in turns:
        _delete_turn(connection, row["project_id"], row["id"])
    return len(turns)


def _expire(connection: sqlite3.Connection, before: int, limit: int) -> int:
    values = {"before": before, "limit": max(limit, 0)}
    snapshots = connection.execute(SQL["outdated"], values).fetchall()
    for snapshot in snapshots:
        for (turn_id,) in connection.execute(SQL["turns_of"], dict(snapshot)).fetchall():
            _delete_turn(connection, snapshot["project_id"], turn_id)
        connection.execute(SQL["delete_jobs"], dict(snapshot))
        connection.execute(SQL["delete"], dict(snapshot))
    return len(snapshots)


def _delete_turn(connection: sqlite3.Connection, project_id: str, turn_id: str) -> None:
    connection.execute(SQL["delete_turn"], {"project_id": project_id, "id": turn_id})
    documents.remove(connection, project_id, [turn_id])
