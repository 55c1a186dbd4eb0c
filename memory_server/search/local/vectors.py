"""Vectors on disk: a tail of single rows that is packed into segments. Writing only.

Every append and every removal of a partition has a number, so that a matrix in memory knows
what it has missed. Removed vectors are overwritten at once; a segment of which a quarter is
removed is written anew.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.scope import Scope
from memory_server.errors import WrongDimension
from memory_server.search.local.predicates import Predicate
from memory_server.search.local.statements import load

SQL = load("memory_server.search.local", "vectors.sql")

SEGMENT = 256
"""Vectors in a full segment."""
REMEMBERED_CHANGES = 4096
"""How far back removals are listed; a matrix further behind is loaded anew."""

_WHOLE = ("tail", "segments", "removals", "places")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What decides where a document's vectors lie."""

    document: int
    project_id: str
    source: str
    user_id: str | None
    past: bool


@dataclass(frozen=True, slots=True)
class SpacedVector:
    """A vector's bytes with the name of its space."""

    space: str
    dimension: int
    data: bytes


def spaced(vector: Vector, space: EmbeddingSpace | None) -> SpacedVector:
    """Return the vector as it is stored, or raise `WrongDimension`."""
    if space is None:
        raise ValueError("a vector is stored with its space: pass space=")
    if vector.shape != (space.dimension,):
        raise WrongDimension(
            f"{space.model}: got a vector of shape {vector.shape}, expected ({space.dimension},)"
        )
    return SpacedVector(space.name, space.dimension, np.asarray(vector, np.float32).tobytes())


def store(connection: sqlite3.Connection, place: Place, vector: SpacedVector) -> None:
    """Append a document's vector to its partition, in place of the former one of that space."""
    remove(connection, place.document, space=vector.space)
    partition_id = _partition(connection, place, vector)
    seq, tail = connection.execute(SQL["append"], {"partition_id": partition_id}).fetchone()
    values = {
        "partition_id": partition_id,
        "seq": seq,
        "document": place.document,
        "space": vector.space,
        "data": vector.data,
    }
    connection.execute(SQL["insert_tail"], values)
    connection.execute(SQL["insert_place"], values)
    if tail >= SEGMENT:
        _pack(connection, partition_id)


def remove(connection: sqlite3.Connection, document: int, *, space: str | None = None) -> int:
    """Remove a document's vectors, of one space or of all; return how many.

    With all of them goes what is known of spaces that cannot have one.
    """
    if space is None:
        connection.execute(SQL["forget_refusals"], {"document": document})
    places = _places(connection, document, space)
    for row in places:
        connection.execute(SQL["delete_place"], {"document": document, "space": row["space"]})
        values = {"partition_id": row["partition_id"], "seq": row["seq"]}
        from_tail = connection.execute(SQL["delete_tail"], values).rowcount
        if not from_tail:
            _remove_packed(connection, values, row["dimension"])
        _tell(connection, values, from_tail)
    return len(places)


def move(connection: sqlite3.Connection, place: Place) -> None:
    """Bring a document's vectors to the partition in which they now belong."""
    for vector in read(connection, place.document):
        store(connection, place, vector)


def copy(connection: sqlite3.Connection, document: int, place: Place) -> None:
    """Give a document the vectors of another one."""
    for vector in read(connection, document):
        store(connection, place, vector)


def read(connection: sqlite3.Connection, document: int) -> list[SpacedVector]:
    """Return a document's vectors, one a space."""
    return [
        SpacedVector(row["space"], row["dimension"], _data(connection, row))
        for row in _places(connection, document)
    ]


def forget_empty(connection: sqlite3.Connection, scope: Scope) -> None:
    """Remove the partitions of a user, of no user, or of a project, in which nothing is left."""
    owned = Predicate("p")
    owned.within(scope.of_user())
    rows = connection.execute(owned.fill(SQL["empty_partitions_of"]), owned.values).fetchall()
    for (partition_id,) in rows:
        forget_partition(connection, partition_id)


def forget_partition(connection: sqlite3.Connection, partition_id: int) -> None:
    """Remove a partition with all that is in it."""
    for part in _WHOLE:
        connection.execute(SQL[f"delete_partition_{part}"], {"partition_id": partition_id})
    connection.execute(SQL["delete_partition"], {"partition_id": partition_id})


def _places(
    connection: sqlite3.Connection, document: int, space: str | None = None
) -> list[sqlite3.Row]:
    return connection.execute(SQL["places"], {"document": document, "space": space}).fetchall()


def _data(connection: sqlite3.Connection, place: sqlite3.Row) -> bytes:
    values = {"partition_id": place["partition_id"], "seq": place["seq"]}
    row = connection.execute(SQL["tail_vector"], values).fetchone()
    if row is not None:
        return bytes(row["data"])
    segment, position = _locate(connection, values)
    size = place["dimension"] * 4
    with connection.blobopen("vector_segments", "data", segment["id"], readonly=True) as blob:
        blob.seek(position * size)
        return blob.read(size)


def _partition(connection: sqlite3.Connection, place: Place, vector: SpacedVector) -> int:
    values = {
        "project_id": place.project_id,
        "source": place.source,
        "space": vector.space,
        "past": place.past,
        "user_id": place.user_id,
        "dimension": vector.dimension,
    }
    row = connection.execute(SQL["partition"], values).fetchone()
    found = connection.execute(SQL["insert_partition"], values).lastrowid if row is None else row[0]
    return int(found or 0)


def _tell(connection: sqlite3.Connection, values: dict[str, Any], from_tail: int) -> None:
    values |= {"tail": from_tail}
    (change,) = connection.execute(SQL["removed"], values).fetchone()
    connection.execute(SQL["insert_removal"], values | {"change": change})
    connection.execute(SQL["trim_removals"], values | {"change": change - REMEMBERED_CHANGES})


def _locate(connection: sqlite3.Connection, values: Mapping[str, Any]) -> tuple[sqlite3.Row, int]:
    segment = connection.execute(SQL["segment_of"], values).fetchone()
    seqs = np.frombuffer(segment["seqs"], np.int64)
    return segment, int(np.searchsorted(seqs, values["seq"]))


def _remove_packed(
    connection: sqlite3.Connection, values: Mapping[str, Any], dimension: int
) -> None:
    segment, position = _locate(connection, values)
    documents = np.frombuffer(segment["documents"], np.int64).copy()
    documents[position] = 0
    # In place: an UPDATE would write the whole segment again.
    for column, size in (("documents", 8), ("data", dimension * 4)):
        with connection.blobopen("vector_segments", column, segment["id"]) as blob:
            blob.seek(position * size)
            blob.write(bytes(size))
    if np.count_nonzero(documents == 0) * 4 >= segment["size"]:
        _rewrite(connection, values["partition_id"], segment["id"])


def _rewrite(connection: sqlite3.Connection, partition_id: int, segment_id: int) -> None:
    """Write a segment without what was removed, joined with a neighbour if both fit in one."""
    segment = connection.execute(SQL["segment_data"], {"id": segment_id}).fetchone()
    kept = _Packed.of(segment)
    connection.execute(SQL["delete_segment"], {"id": segment_id})
    where = {"partition_id": partition_id, "last_seq": segment["last_seq"]}
    for neighbour in ("segment_after", "segment_before"):
        row = connection.execute(SQL[neighbour], where).fetchone()
        other = None if row is None else _Packed.of(row)
        if other is not None and len(kept.seqs) + len(other.seqs) <= SEGMENT:
            connection.execute(SQL["delete_segment"], {"id": row["id"]})
            kept = kept.joined(other) if neighbour == "segment_after" else other.joined(kept)
    _write_segment(connection, partition_id, kept)


def _pack(connection: sqlite3.Connection, partition_id: int) -> None:
    rows = connection.execute(SQL["tail"], {"partition_id": partition_id, "after": 0}).fetchall()
    packed = _Packed(
        np.array([row["seq"] for row in rows], np.int64),
        np.array([row["document"] for row in rows], np.int64),
        np.stack([np.frombuffer(row["data"], np.float32) for row in rows]),
    )
    connection.execute(SQL["clear_tail"], {"partition_id": partition_id})
    connection.execute(SQL["tail_packed"], {"partition_id": partition_id})
    _write_segment(connection, partition_id, packed)


@dataclass(frozen=True, slots=True)
class _Packed:
    """Vectors of one segment; shapes (n,), (n,) and (n, dimension)."""

    seqs: np.ndarray[Any, np.dtype[np.int64]]
    documents: np.ndarray[Any, np.dtype[np.int64]]
    data: np.ndarray[Any, np.dtype[np.float32]]

    @classmethod
    def of(cls, row: sqlite3.Row) -> "_Packed":
        """Return what is left of a stored segment."""
        documents = np.frombuffer(row["documents"], np.int64)
        data = np.frombuffer(row["data"], np.float32).reshape(row["size"], -1)
        left = documents != 0
        return cls(np.frombuffer(row["seqs"], np.int64)[left], documents[left], data[left])

    def joined(self, other: "_Packed") -> "_Packed":
        """Return both as one."""
        return _Packed(
            np.concatenate((self.seqs, other.seqs)),
            np.concatenate((self.documents, other.documents)),
            np.concatenate((self.data, other.data)),
        )


def _write_segment(connection: sqlite3.Connection, partition_id: int, packed: _Packed) -> None:
    if not len(packed.seqs):
        return
    values = {
        "partition_id": partition_id,
        "last_seq": int(packed.seqs[-1]),
        "size": len(packed.seqs),
        "seqs": packed.seqs.tobytes(),
        "documents": packed.documents.tobytes(),
        "data": packed.data.tobytes(),
    }
    connection.execute(SQL["insert_segment"], values)
