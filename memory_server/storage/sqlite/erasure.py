"""Deleting everything of a user, of no user, or of a project.

Portion by portion, so that what others write gets its turn in between. That it happens is written
down first, and whoever is interrupted is helped by the same call again.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from memory_server.domain.erasure import COUNTED_AS, erased, erasures_of
from memory_server.domain.job import job_owner
from memory_server.domain.memory import MemoryType
from memory_server.domain.moments import maybe_moment, to_micros
from memory_server.domain.scope import Scope
from memory_server.search.local import documents, vectors
from memory_server.search.local.predicates import Predicate
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.rewriting import rewrite
from memory_server.storage.sqlite.snapshots import skip_erased

SQL = load("memory_server.storage.sqlite", "erasure.sql")

PORTION = 200
"""How many rows are deleted in one write: some hundredths of a second."""
KINDS = (
    "turns",
    "snapshots",
    "jobs",
    "proposals",
    "records",
    "blocks",
    "memories",
    "sessions",
    "idempotency_keys",
    "index_entries",
    "vectors",
)

_Counts = Mapping[str, int]
_Keys = Sequence[Any]
_Deletion = Callable[[sqlite3.Connection, _Keys], _Counts]


async def erase(database: Database, scope: Scope, now: datetime) -> Mapping[str, int]:
    """Delete what the scope's user owns, or the project's all; return counts by kind.

    Work goes first, so that nothing of it is stored any more; again when there are no turns that
    it could be made of, and last, for what saved memories have queued. Whatever was stored before
    the call is gone when it returns. What is stored meanwhile is gone or is there, each write as
    a whole, but for a job that finds nothing to do.

    In the sessions of others, what waits begins anew at the first turn that is left. Traces are
    left in the file until it is written anew.
    """
    erasing = _Erasing(database, scope)
    noted = {"owner": erased(scope), "at": to_micros(now)}
    await database.write(partial(_note, noted=noted))
    await erasing.all_of("jobs", erasing.delete_jobs)
    await erasing.all_of("turns", erasing.delete_turns)
    await erasing.all_of("snapshots", erasing.delete_snapshots)
    await erasing.all_of("sessions", erasing.leave)
    await erasing.all_of("jobs", erasing.delete_jobs)
    await erasing.all_of("proposals", erasing.delete_proposals)
    await erasing.all_of("memories", erasing.delete_memories)
    await erasing.all_of("jobs", erasing.delete_jobs)
    await database.write(erasing.forget_owner)
    return {kind: erasing.counts[kind] for kind in KINDS}


def erased_at(
    connection: sqlite3.Connection, project_id: str, user_id: str | None
) -> datetime | None:
    """Return when a user was erased last, alone or with the whole project; None: never."""
    owners = {"owners": json.dumps(erasures_of(project_id, user_id))}
    (micros,) = connection.execute(SQL["erased_at"], owners).fetchone()
    return maybe_moment(micros)


def has_traces(connection: sqlite3.Connection) -> bool:
    """Whether the file may hold traces of what was erased."""
    return bool(connection.execute(SQL["has_traces"]).fetchone()[0])


def remove_traces(connection: sqlite3.Connection) -> None:
    """Leave no traces in the file, and note that; no transaction may be open."""
    rewrite(connection)
    connection.execute(SQL["forget_traces"])


class _Erasing:
    """One erasure, and what it has deleted so far."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope
        self._owned = Predicate("e")
        self._owned.within(scope.of_user())
        self.counts: Counter[str] = Counter()

    async def all_of(self, kind: str, delete: _Deletion) -> None:
        """Delete all rows of a kind."""
        async for keys in self._found(kind):
            self.counts.update(await self._delete(delete, keys))

    def delete_jobs(self, connection: sqlite3.Connection, keys: _Keys) -> _Counts:
        """Delete jobs."""
        return {"jobs": len(self._gone(connection, "delete_jobs", keys))}

    def delete_proposals(self, connection: sqlite3.Connection, keys: _Keys) -> _Counts:
        """Delete proposals, whatever was decided on them."""
        return {"proposals": len(self._gone(connection, "delete_proposals", keys))}

    def delete_turns(self, connection: sqlite3.Connection, keys: _Keys) -> _Counts:
        """Delete turns, and leave their sessions to those who are still in them."""
        turns = self._gone(connection, "delete_turns", keys)
        removed = documents.remove(
            connection, self._scope.project_id, [turn["id"] for turn in turns]
        )
        return {
            "turns": len(turns),
            "idempotency_keys": sum(turn["has_key"] for turn in turns),
            **_of_index(removed),
            **self.leave(connection, sorted({turn["session_id"] for turn in turns})),
        }

    def delete_snapshots(self, connection: sqlite3.Connection, keys: _Keys) -> _Counts:
        """Delete snapshots, and leave their sessions to those who are still in them."""
        snapshots = self._gone(connection, "delete_snapshots", keys)
        sessions = sorted({snapshot["session_id"] for snapshot in snapshots})
        return {"snapshots": len(snapshots), **self.leave(connection, sessions)}

    def delete_memories(self, connection: sqlite3.Connection, keys: _Keys) -> _Counts:
        """Delete versions of memories."""
        gone = self._gone(connection, "delete_memories", keys)
        removed = documents.remove(connection, self._scope.project_id, [one["id"] for one in gone])
        kinds = Counter(COUNTED_AS.get(MemoryType(one["type"]), "memories") for one in gone)
        return {**kinds, **_of_index(removed)}

    def leave(self, connection: sqlite3.Connection, keys: _Keys) -> _Counts:
        """Remove the sessions in which nobody is left, and leave the others."""
        gone = 0
        for session_id in keys:
            where = {"project_id": self._scope.project_id, "session_id": session_id}
            gone += connection.execute(SQL["session"], where).rowcount
            connection.execute(SQL["leave_session"], where)
            skip_erased(connection, where)
        return {"sessions": gone}

    def forget_owner(self, connection: sqlite3.Connection) -> None:
        """Remove what is kept of the owner apart from what it has, unless it has something anew."""
        vectors.forget_empty(connection, self._scope)
        owners = {
            "project_id": self._scope.project_id,
            "everybody": self._scope.user_id is None and not self._scope.userless,
            "owner": job_owner(self._scope.user_id),
        }
        connection.execute(SQL["job_owners"], owners)

    async def _delete(self, delete: _Deletion, keys: _Keys) -> _Counts:
        return await self._database.write(lambda connection: delete(connection, keys))

    async def _found(self, kind: str) -> AsyncIterator[_Keys]:
        """Yield keys of what the owner has, a portion at a time, found while others write."""
        statement = self._owned.fill(SQL[kind])
        portion: dict[str, Any] = {**self._owned.values, "after": None, "limit": PORTION}
        while True:
            rows = await self._database.read(
                lambda connection: connection.execute(statement, portion).fetchall()
            )
            if not rows:
                return
            yield [key for (key,) in rows]
            portion["after"] = rows[-1][0]

    def _gone(
        self, connection: sqlite3.Connection, statement: str, keys: _Keys
    ) -> list[sqlite3.Row]:
        """Delete what of these is still the owner's, and return it."""
        values = {
            **self._owned.values,
            "project_id": self._scope.project_id,
            "keys": json.dumps(keys),
        }
        return connection.execute(self._owned.fill(SQL[statement]), values).fetchall()


def _note(connection: sqlite3.Connection, noted: Mapping[str, Any]) -> None:
    connection.execute(SQL["note"], noted)
    connection.execute(SQL["leave_traces"], noted)


def _of_index(removed: documents.Removed) -> _Counts:
    return {"index_entries": removed.documents, "vectors": removed.vectors}
