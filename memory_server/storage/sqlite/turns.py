"""Short-term memory in SQLite."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.turn import NewTurn, Turn
from memory_server.domain.utterance import Utterance
from memory_server.ports.turns import Turns
from memory_server.search.local import documents
from memory_server.search.local.entries import turn_entry
from memory_server.search.local.predicates import Predicate
from memory_server.search.local.statements import load
from memory_server.search.local.vectors import SpacedVector, spaced
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.rows import turn_of, turn_values, utterance_of

SQL = load("memory_server.storage.sqlite", "turns.sql")


class SqliteTurns(Turns):
    """Turns, their sessions' counters, and their entries in the index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(
        self, turn: NewTurn, *, vector: Vector | None = None, space: EmbeddingSpace | None = None
    ) -> Turn:
        stored = None if vector is None else spaced(vector, space)
        return await self._database.write(lambda db: _append(db, turn, stored))

    async def recent(self, scope: Scope, *, limit: int) -> Sequence[Turn]:
        if scope.visibility not in (None, Visibility.PRIVATE):
            return []  # turns have no visibility: each is its user's own
        predicate = Predicate("t")
        for column, value in scope.conditions():
            if column != "visibility":
                predicate.equals(column, value)
        name = "recent_everywhere" if scope.session_id is None else "recent"
        statement = predicate.fill(SQL[name])
        newest_first = await self._read(statement, predicate.values | {"limit": max(limit, 0)})
        return newest_first[::-1]

    async def run(
        self,
        project_id: str,
        session_id: str,
        *,
        first_seq: int,
        last_seq: int,
        limit: int | None = None,
    ) -> Sequence[Turn]:
        values = {
            "project_id": project_id,
            "session_id": session_id,
            "first_seq": first_seq,
            "last_seq": last_seq,
            "limit": -1 if limit is None else max(limit, 0),
        }
        return await self._read(SQL["run"], values)

    async def get_many(self, project_id: str, ids: Sequence[str]) -> Sequence[Turn]:
        values = {"project_id": project_id, "ids": json.dumps(list(ids))}
        found = {turn.id: turn for turn in await self._read(SQL["get_many"], values)}
        return [found[one] for one in dict.fromkeys(ids) if one in found]

    async def utterances(self, project_id: str, ids: Sequence[str]) -> Sequence[Utterance]:
        values = {"project_id": project_id, "ids": json.dumps(list(ids))}
        rows = await self._database.read(lambda db: db.execute(SQL["said"], values).fetchall())
        return [utterance_of(row) for row in rows]

    async def set_vectors(
        self, project_id: str, vectors: Mapping[str, Vector], space: EmbeddingSpace
    ) -> None:
        stored = {turn_id: spaced(vector, space) for turn_id, vector in vectors.items()}
        await self._database.write(lambda db: _set_vectors(db, project_id, stored))

    async def _read(self, statement: str, values: Mapping[str, Any]) -> list[Turn]:
        return await self._database.read(
            lambda db: [turn_of(row) for row in db.execute(statement, values)]
        )


def _append(connection: sqlite3.Connection, turn: NewTurn, vector: SpacedVector | None) -> Turn:
    values = turn_values(turn)
    known = connection.execute(SQL["by_key"], values).fetchone()
    if known is not None:
        return turn_of(known)
    (turn_seq,) = connection.execute(SQL["count"], values).fetchone()
    values |= {"turn_seq": turn_seq, "has_embedding": vector is not None}
    connection.execute(SQL["insert"], values)
    documents.put(connection, turn_entry(turn, turn_seq))
    if vector is not None:
        documents.set_vector(connection, turn.project_id, turn.id, vector)
    given = {field.name: getattr(turn, field.name) for field in fields(NewTurn)}
    return Turn(**given, turn_seq=turn_seq, has_embedding=vector is not None)


def _set_vectors(
    connection: sqlite3.Connection, project_id: str, vectors: Mapping[str, SpacedVector]
) -> None:
    for turn_id, vector in vectors.items():
        values = {"project_id": project_id, "id": turn_id}
        if connection.execute(SQL["has_vector"], values).rowcount:
            documents.set_vector(connection, project_id, turn_id, vector)
