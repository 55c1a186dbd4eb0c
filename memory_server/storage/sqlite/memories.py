"""Long-term memory in SQLite: reading."""

import sqlite3
from collections.abc import Mapping, Sequence

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.job import Job
from memory_server.domain.json_values import encode
from memory_server.domain.memory import Memory
from memory_server.domain.moments import to_micros
from memory_server.domain.proposal import Proposal
from memory_server.domain.scope import Scope
from memory_server.domain.utterance import Utterance, one_of_each, seen_by_each
from memory_server.errors import MemoryNotFound
from memory_server.ports.clock import Clock
from memory_server.ports.memories import Memories, MemoryOperation, MemoryQuery
from memory_server.search.local.predicates import Predicate
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.jobs import enqueue, settle
from memory_server.storage.sqlite.memory_changes import SQL, Changes
from memory_server.storage.sqlite.memory_rows import dialogue_of, memory_of
from memory_server.storage.sqlite.proposals import decide

_EQUALITIES = {
    "type": "type",
    "key": "key",
    "domain": "domain",
    "identity_key": "identity_key",
    "subject": "claim_subject",
    "attribute": "claim_attribute",
}
"""Fields of a query and the columns they must equal."""


class SqliteMemories(Memories):
    """Memories in all versions, and their entries in the index."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, scope: Scope, memory_id: str) -> Memory:
        found = await self.get_many(scope, [memory_id])
        if not found:
            raise _missing(memory_id)
        return found[0]

    async def get_many(self, scope: Scope, ids: Sequence[str]) -> Sequence[Memory]:
        predicate = _scoped(scope)
        predicate.among("id", list(ids))
        memories = await self._database.read(lambda db: _memories(db, "get", predicate))
        found = {memory.id: memory for memory in memories}
        return [found[one] for one in dict.fromkeys(ids) if one in found]

    async def utterances(self, scope: Scope, ids: Sequence[str]) -> Sequence[Utterance]:
        read_for = one_of_each(ids)
        predicate = _scoped(scope)
        predicate.among("id", list(dict.fromkeys(read_for.values())))
        rows = await self._database.read(lambda db: _rows(db, "said", predicate))
        return seen_by_each(read_for, {row["id"]: dialogue_of(row) for row in rows})

    async def find(self, scope: Scope, query: MemoryQuery) -> Sequence[Memory]:
        predicate = _scoped(scope)
        _limit_to(predicate, query)
        predicate.values["limit"] = -1 if query.limit is None else max(query.limit, 0)
        is_live = not (query.include_deleted or query.include_superseded)
        name = "find_live" if is_live else "find"
        statement = predicate.fill(SQL[name].replace("/* index */", _index(query)))
        return await self._database.read(lambda db: _decoded(db, statement, predicate))

    async def history(self, scope: Scope, memory_id: str) -> Sequence[Memory]:
        return await self._database.read(lambda db: _history(db, scope, memory_id))

    async def histories(
        self, scope: Scope, memory_ids: Sequence[str]
    ) -> Mapping[str, Sequence[Memory]]:
        versions = _scoped(scope)
        versions.among("root_id", list(memory_ids))
        rows = await self._database.read(lambda db: _rows(db, "history", versions))
        found: dict[str, list[Memory]] = {}
        for row in rows:
            found.setdefault(row["root_id"], []).append(memory_of(row))
        return found

    async def domains(self, scope: Scope) -> Sequence[str]:
        predicate = _scoped(scope)
        _limit_to(predicate, MemoryQuery())
        predicate.add("m.domain IS NOT NULL")
        return await self._database.read(
            lambda db: [row["domain"] for row in _rows(db, "domains", predicate)]
        )

    async def counts(self, scope: Scope) -> Mapping[str, int]:
        predicate = _scoped(scope)
        _limit_to(predicate, MemoryQuery())
        return await self._database.read(
            lambda db: {row["name"]: row["memories"] for row in _rows(db, "counts", predicate)}
        )

    async def apply(
        self,
        project_id: str,
        operations: Sequence[MemoryOperation],
        *,
        space: EmbeddingSpace | None = None,
        settling: Job | None = None,
        queueing: Sequence[Job] = (),
        deciding: Proposal | None = None,
    ) -> None:
        changes = Changes(project_id, operations, space)
        now = to_micros(self._clock.now())

        def apply(connection: sqlite3.Connection) -> None:
            if settling is not None:
                values = {"result": encode(settling.result), "now": now}
                settle(connection, "complete", settling, values)
            if deciding is not None:
                decide(connection, project_id, deciding)
            changes.apply(connection)
            enqueue(connection, queueing)

        await self._database.write(apply)


def _scoped(scope: Scope) -> Predicate:
    predicate = Predicate("m")
    predicate.within(scope)
    return predicate


def _index(query: MemoryQuery) -> str:
    """Return which index finds the few that are meant; left alone, the planner reads many."""
    indexes = {"identity_key": "same", "subject": "claim", "key": "key"}
    named = (name for field, name in indexes.items() if getattr(query, field) is not None)
    return "".join(f"INDEXED BY memories_{name}" for name in list(named)[:1])


def _limit_to(predicate: Predicate, query: MemoryQuery) -> None:
    for name, column in _EQUALITIES.items():
        value = getattr(query, name)
        if value is not None:
            predicate.equals(column, str(value))
    if not query.include_deleted:
        predicate.add("NOT m.deleted")
    if not query.include_superseded:
        predicate.add("m.is_latest")
    if query.without_embedding:
        predicate.add("NOT m.has_embedding")
    predicate.passes(query.filter)


def _rows(
    connection: sqlite3.Connection, statement: str, predicate: Predicate
) -> list[sqlite3.Row]:
    return connection.execute(predicate.fill(SQL[statement]), predicate.values).fetchall()


def _decoded(connection: sqlite3.Connection, statement: str, predicate: Predicate) -> list[Memory]:
    rows = connection.execute(statement, predicate.values)
    return [memory_of(row) for row in rows]


def _memories(connection: sqlite3.Connection, statement: str, predicate: Predicate) -> list[Memory]:
    return _decoded(connection, predicate.fill(SQL[statement]), predicate)


def _history(connection: sqlite3.Connection, scope: Scope, memory_id: str) -> list[Memory]:
    known = _scoped(scope)
    known.equals("id", memory_id)
    rows = _rows(connection, "get", known)
    if not rows:
        raise _missing(memory_id)
    versions = _scoped(scope)
    versions.equals("root_id", rows[0]["root_id"])
    return _memories(connection, "history", versions)


def _missing(memory_id: str) -> MemoryNotFound:
    return MemoryNotFound(f"no memory {memory_id!r} that this scope may see")
