"""The embedding spaces of a SQLite store."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.job import Job
from memory_server.domain.json_values import encode
from memory_server.domain.moments import maybe_micros, maybe_moment, to_micros
from memory_server.domain.spaces import SpacesInUse, job_of
from memory_server.ports.spaces import BareTurns, Given, Missing, Spaces, Switch
from memory_server.project_config import EmbeddingConfig
from memory_server.search.local import documents, vectors
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.jobs import enqueue, settle

SQL = load("memory_server.storage.sqlite", "spaces.sql")


class SqliteSpaces(Spaces):
    """One row that says what answers; the vectors themselves are the index's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look(self, *, counted: bool = False) -> SpacesInUse:
        return await self._database.read(look)  # counts are kept

    async def declare(self, embedding: EmbeddingConfig, *, now: datetime) -> SpacesInUse:
        return await self._database.write(lambda db: _declare(db, embedding, now))

    async def begin(self, target: EmbeddingConfig, job: Job, *, now: datetime) -> SpacesInUse:
        return await self._database.write(lambda db: _begin(db, target, job, now))

    async def cancel(self, *, now: datetime) -> SpacesInUse:
        return await self._database.write(lambda db: _cancel(db, now))

    async def missing(
        self,
        space: str,
        *,
        after: str | None = None,
        limit: int,
        bare: BareTurns = BareTurns.NONE,
    ) -> Sequence[Missing]:
        values = {"space": space, "after": int(after or 0), "limit": limit}
        values["all"] = bare is BareTurns.ALL
        found = SQL["missing" if bare is BareTurns.NONE else "missing_or_bare"]
        rows = await self._database.read(lambda db: db.execute(found, values).fetchall())
        return [
            Missing(
                project_id=row["project_id"],
                id=row["id"],
                is_turn=bool(row["is_turn"]),
                follows=row["follows"],
                place=str(row["place"]),
            )
            for row in rows
        ]

    async def give(self, vectors: Sequence[Given], space: EmbeddingSpace) -> None:
        await self._database.write(lambda db: _give(db, vectors, space))

    async def switch(self, settling: Job, *, now: datetime) -> Switch:
        return await self._database.write(lambda db: _switch(db, settling, now))

    async def drop(self, *, limit: int) -> int:
        return await self._database.write(lambda db: _drop(db, limit))


def look(connection: sqlite3.Connection) -> SpacesInUse:
    """Return what is noted and counted; by rows that are read by name."""
    row = connection.execute(SQL["look"]).fetchone()
    target = _model(row["target"])
    refused = 0
    if target is not None:
        (refused,) = connection.execute(SQL["refused"], {"space": target.space}).fetchone()
    return SpacesInUse(
        active=_model(row["active"]),
        target=target,
        revision=row["revision"],
        changed_at=maybe_moment(row["changed_at"]),
        vectors={row["space"]: row["vectors"] for row in connection.execute(SQL["vectors"])},
        refused=refused,
    )


def _declare(
    connection: sqlite3.Connection, embedding: EmbeddingConfig, now: datetime
) -> SpacesInUse:
    spaces = look(connection)
    if spaces.active is not None and not spaces.is_empty and spaces.active.space != embedding.space:
        return spaces
    target = None if spaces.is_empty else spaces.target
    if (embedding, target) == (spaces.active, spaces.target):
        return spaces
    return _note(connection, replace(spaces, active=embedding, target=target), now)


def _begin(
    connection: sqlite3.Connection, target: EmbeddingConfig, job: Job, now: datetime
) -> SpacesInUse:
    spaces = look(connection)
    if spaces.target is not None and spaces.target.space == target.space:
        return spaces
    noted = _note(connection, replace(spaces, target=target), now)
    enqueue(connection, [job_of(job, noted.revision)])
    return look(connection)


def _cancel(connection: sqlite3.Connection, now: datetime) -> SpacesInUse:
    spaces = look(connection)
    if spaces.target is None:
        return spaces
    return _note(connection, replace(spaces, target=None, refused=0), now)


def _note(connection: sqlite3.Connection, spaces: SpacesInUse, now: datetime) -> SpacesInUse:
    noted = replace(spaces, revision=spaces.revision + 1, changed_at=now)
    values = {
        "active": _text(noted.active),
        "target": _text(noted.target),
        "revision": noted.revision,
        "changed_at": maybe_micros(noted.changed_at),
    }
    connection.execute(SQL["note"], values)
    return noted


def _give(connection: sqlite3.Connection, given: Sequence[Given], space: EmbeddingSpace) -> None:
    for one in given:
        where = {"project_id": one.project_id, "id": one.id, "revision": one.revision}
        row = connection.execute(SQL["place"], where).fetchone()
        if row is None or (one.revision is not None and not _is_at(connection, where)):
            continue
        if one.vector is None:
            connection.execute(SQL["refuse"], {"document": row["rowid"], "space": space.name})
        else:
            vectors.store(connection, documents.place_of(row), vectors.spaced(one.vector, space))
            if one.revision is None:
                connection.execute(SQL["held_turn"], where)


def _is_at(connection: sqlite3.Connection, where: Mapping[str, Any]) -> bool:
    return connection.execute(SQL["is_at"], where).fetchone() is not None


def _switch(connection: sqlite3.Connection, settling: Job, now: datetime) -> Switch:
    spaces = look(connection)
    if spaces.target is None or settling.payload.get("revision") != spaces.revision:
        return Switch.CHANGED
    first = {"space": spaces.target.space, "after": 0, "limit": 1}
    if connection.execute(SQL["missing"], first).fetchone() is not None:
        return Switch.MISSING
    values = {"result": encode(settling.result), "now": to_micros(now)}
    settle(connection, "complete", settling, values)
    _note(connection, replace(spaces, active=spaces.target, target=None), now)
    return Switch.DONE


def _drop(connection: sqlite3.Connection, limit: int) -> int:
    spaces = look(connection)
    kept = {
        "active": (spaces.active and spaces.active.space) or "",
        "target": (spaces.target and spaces.target.space) or "",
    }
    rows = connection.execute(SQL["outdated"], kept | {"limit": limit}).fetchall()
    for row in rows:
        vectors.remove(connection, row["document"], space=row["space"])
        bare = connection.execute(SQL["bare"], {"document": row["document"]}).fetchone()
        if bare is not None:
            connection.execute(SQL["bare_turn" if bare["is_turn"] else "bare_memory"], dict(bare))
    if not rows:
        for partition in connection.execute(SQL["empty_partitions"], kept).fetchall():
            vectors.forget_partition(connection, partition["id"])
    return len(rows)


def _model(text: str | None) -> EmbeddingConfig | None:
    return None if text is None else EmbeddingConfig(**json.loads(text))


def _text(model: EmbeddingConfig | None) -> str | None:
    return None if model is None else encode(asdict(model))
