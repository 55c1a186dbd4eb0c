"""Searching the local index: words by FTS5's BM25, vectors by an exact scan."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from memory_server.domain.chunk import source_name
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.errors import WrongDimension
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.search.local import documents, vectors
from memory_server.search.local.documents import TOKEN_FIELDS, scope_token
from memory_server.search.local.matrices import Floats, Integers, Matrices, Partition, View
from memory_server.search.local.predicates import Predicate, selected
from memory_server.search.local.scan import nearest

T = TypeVar("T")

VECTOR_MEMORY_BYTES = 256 * 1024 * 1024
"""Of vectors, kept in memory unless something else is said."""
MOST_TERMS = 256
"""Terms of one query that are looked for; a text pasted as a query has its first ones."""


class Reader(Protocol):
    """Runs a query over one snapshot of the database, off the event loop."""

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what the query returns; its connection is not to be kept."""
        ...


class LocalIndex(SearchIndex):
    """The index in the same SQLite file as the records, or beside another store."""

    def __init__(self, reader: Reader, *, vector_memory_bytes: int) -> None:
        self._reader = reader
        self._matrices = Matrices(vector_memory_bytes)

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        match = _match(selection, terms)
        if match is None or selection.limit <= 0:
            return []
        predicate = selected(selection)
        statement = predicate.fill(documents.SQL["search_words"])
        values = predicate.values | {"match": match, "limit": selection.limit}
        return await self._reader.read(
            lambda db: [
                Hit(row["id"], row["score"])
                for row in db.execute(statement, values)
                if row["score"] > 0
            ]
        )

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        query: Floats = np.ascontiguousarray(vector, np.float32)
        if query.shape != (space.dimension,):
            raise WrongDimension(
                f"{space.model}: the query has shape {query.shape}, not ({space.dimension},)"
            )
        if selection.limit <= 0:
            return []
        return await self._reader.read(lambda db: self._nearest(db, selection, query, space))

    async def describe(self) -> Mapping[str, Any]:
        sizes = await self._reader.read(lambda db: db.execute(documents.SQL["sizes"]).fetchone())
        return {
            "kind": "local",
            **dict(sizes),
            "vector_memory_bytes": self._matrices.size_bytes,
            "vector_memory_limit_bytes": self._matrices.limit_bytes,
        }

    def forget(self) -> None:
        """Let go of what is in memory; it is read again when it is needed."""
        self._matrices.clear()

    def _nearest(
        self,
        connection: sqlite3.Connection,
        selection: Selection,
        query: Floats,
        space: EmbeddingSpace,
    ) -> Sequence[Hit]:
        scored = nearest(
            self._views(connection, selection, space),
            query,
            limit=selection.limit,
            allowed=_allowed(connection, selection),
        )
        ids = _ids(connection, selection, [document for document, _ in scored])
        hits = [Hit(ids[document], score) for document, score in scored if document in ids]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[: selection.limit]

    def _views(
        self, connection: sqlite3.Connection, selection: Selection, space: EmbeddingSpace
    ) -> Iterator[View]:
        owned = Predicate("p")
        owned.within(selection.scope.of_user())
        where = owned.values | {
            "source": source_name(selection.source, selection.custom_type),
            "space": space.name,
            "past": selection.asks_the_past,
        }
        for row in connection.execute(owned.fill(vectors.SQL["scanned"]), where).fetchall():
            partition = Partition(row["id"], row["dimension"], row["changes"], row["vectors"])
            yield from self._matrices.views(connection, partition)


def _allowed(connection: sqlite3.Connection, selection: Selection) -> Integers | None:
    """Return the rowids that may be found, sorted; None: all that the partitions hold."""
    conditions = dict(selection.scope.conditions())
    narrowed = conditions.keys() - {"project_id", "user_id"}
    if not narrowed and selection.filter is None and not selection.asks_the_past:
        return None
    predicate = selected(selection)
    rows = connection.execute(predicate.fill(documents.SQL["allowed"]), predicate.values)
    return np.fromiter((rowid for (rowid,) in rows), np.int64)


def _ids(
    connection: sqlite3.Connection, selection: Selection, rowids: Sequence[int]
) -> Mapping[int, str]:
    """Return the ids of these documents, of those only that the selection allows."""
    predicate = selected(selection)
    values = predicate.values | {"found": json.dumps(list(rowids))}
    rows = connection.execute(predicate.fill(documents.SQL["ids"]), values)
    return {row["rowid"]: row["id"] for row in rows}


def _match(selection: Selection, terms: Sequence[str]) -> str | None:
    """Return the FTS5 query: every term is quoted, none is syntax. None: nothing to look for.

    Only the narrowest owner is named: BM25 counts the documents of every word in the query.
    """
    quoted = [
        '"' + term.replace('"', '""').replace("\0", " ") + '"'
        for term in terms
        if any(character.isalnum() for character in term)
    ][:MOST_TERMS]
    if not quoted:
        return None
    conditions = dict(selection.scope.conditions())
    field = next(field for field in TOKEN_FIELDS if field in conditions)
    owner = scope_token(
        selection.scope.project_id,
        source_name(selection.source, selection.custom_type),
        past=selection.asks_the_past,
        field=field,
        value=conditions[field],
    )
    return f'scope : "{owner}" AND {{body neighbours}} : ({" OR ".join(quoted)})'
