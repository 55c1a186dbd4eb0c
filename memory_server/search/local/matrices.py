"""Vectors in memory: one contiguous float32 matrix per partition, bounded in bytes.

A matrix is brought up to date by the search that uses it, from the snapshot of the database
that the search reads: it can never miss what was committed before the search began.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from memory_server.search.local.vectors import REMEMBERED_CHANGES, SQL

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition as one snapshot of the database shows it."""

    id: int
    dimension: int
    changes: int
    vectors: int

    @property
    def size_bytes(self) -> int:
        """What its matrix takes at least."""
        return self.vectors * (self.dimension * 4 + 16)


@dataclass(frozen=True, slots=True)
class View:
    """Rows that will not move: shapes (n,) and (n, dimension). Document 0: removed."""

    documents: Integers
    data: Floats


class Matrix:
    """One partition's vectors, in the order in which they were appended."""

    def __init__(self, partition: Partition) -> None:
        self._lock = Lock()
        self._partition = partition.id
        self._size = 0
        self._removed = 0
        self._changes = 0
        self._seqs = np.empty(0, np.int64)
        self._documents = np.empty(0, np.int64)
        self._data = np.empty((0, partition.dimension), np.float32)
        self._reserve(partition.vectors)

    @property
    def size_bytes(self) -> int:
        """What it takes in memory."""
        return self._data.nbytes + self._seqs.nbytes + self._documents.nbytes

    def view(self, connection: sqlite3.Connection, partition: Partition) -> View:
        """Return the rows as of the connection's snapshot, or a later one."""
        with self._lock:
            if partition.changes > self._changes:
                self._catch_up(connection, partition)
            return View(self._documents[: self._size], self._data[: self._size])

    def _catch_up(self, connection: sqlite3.Connection, partition: Partition) -> None:
        behind = partition.changes - self._changes
        if self._size and (behind > REMEMBERED_CHANGES or self._removed * 4 > self._size):
            self._forget()
        where = {"partition_id": self._partition, "after": self._changes}
        loaded_before = self._size
        for row in connection.execute(SQL["segments"], where):
            self._append_segment(row)
        for row in connection.execute(SQL["tail"], where):
            self._append(
                np.array([row["seq"]]), np.array([row["document"]]), _floats(row["data"], 1)
            )
        if loaded_before:
            self._remove([row["seq"] for row in connection.execute(SQL["removals"], where)])
        self._changes = partition.changes

    def _append_segment(self, row: sqlite3.Row) -> None:
        seqs = np.frombuffer(row["seqs"], np.int64)
        documents = np.frombuffer(row["documents"], np.int64)
        data = _floats(row["data"], row["size"])
        wanted = (seqs > self._changes) & (documents != 0)
        if wanted.all():
            self._append(seqs, documents, data)
        else:
            self._append(seqs[wanted], documents[wanted], data[wanted])

    def _append(self, seqs: Integers, documents: Integers, data: Floats) -> None:
        end = self._size + len(seqs)
        if end > len(self._seqs):
            self._reserve(max(end, 2 * len(self._seqs)))
        self._seqs[self._size : end] = seqs
        self._documents[self._size : end] = documents
        self._data[self._size : end] = data
        self._size = end

    def _reserve(self, capacity: int) -> None:
        """Move to larger arrays; views of the former ones stay as they are."""
        for name in ("_seqs", "_documents", "_data"):
            former = getattr(self, name)
            larger = np.empty((capacity, *former.shape[1:]), former.dtype)
            larger[: self._size] = former[: self._size]
            setattr(self, name, larger)

    def _remove(self, seqs: list[int]) -> None:
        if not seqs:
            return
        known = self._seqs[: self._size]
        positions = np.searchsorted(known, seqs)
        positions = positions[positions < self._size]
        positions = positions[np.isin(known[positions], seqs)]
        self._documents[positions] = 0
        self._removed += len(positions)

    def _forget(self) -> None:
        self._size = self._removed = self._changes = 0
        for name in ("_seqs", "_documents", "_data"):
            former = getattr(self, name)
            setattr(self, name, np.empty((0, *former.shape[1:]), former.dtype))


@dataclass(slots=True)
class _Held:
    matrix: Matrix
    size_bytes: int = 0
    """What it took when it was last used."""


class Matrices:
    """The matrices in memory; the one used longest ago goes first when room is needed."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._lock = Lock()
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._taken = 0

    @property
    def size_bytes(self) -> int:
        """What all matrices take in memory."""
        return self._taken

    def views(self, connection: sqlite3.Connection, partition: Partition) -> Iterator[View]:
        """Yield all rows of a partition; one that exceeds the limit comes segment by segment."""
        if partition.size_bytes > self.limit_bytes:
            self._drop(partition.id)
            yield from _streamed(connection, partition)
            return
        held = self._hold(partition)
        view = held.matrix.view(connection, partition)
        self._make_room(partition.id, held)
        yield view

    def clear(self) -> None:
        """Let all matrices go."""
        with self._lock:
            self._held.clear()
            self._taken = 0

    def _hold(self, partition: Partition) -> _Held:
        with self._lock:
            held = self._held.get(partition.id)
            if held is None:
                held = self._held[partition.id] = _Held(Matrix(partition))
            self._held.move_to_end(partition.id)
            return held

    def _drop(self, partition_id: int) -> None:
        with self._lock:
            held = self._held.pop(partition_id, None)
            if held is not None:
                self._taken -= held.size_bytes

    def _make_room(self, partition_id: int, held: _Held) -> None:
        """Note how large a matrix has become, and let others go if it is too much together."""
        with self._lock:
            if self._held.get(partition_id) is held:
                size_bytes = held.matrix.size_bytes
                self._taken += size_bytes - held.size_bytes
                held.size_bytes = size_bytes
            while self._taken > self.limit_bytes:
                _, oldest = self._held.popitem(last=False)
                self._taken -= oldest.size_bytes


def _streamed(connection: sqlite3.Connection, partition: Partition) -> Iterator[View]:
    where = {"partition_id": partition.id, "after": 0}
    for row in connection.execute(SQL["segments"], where):
        yield View(np.frombuffer(row["documents"], np.int64), _floats(row["data"], row["size"]))
    tail = connection.execute(SQL["tail"], where).fetchall()
    if tail:
        documents = np.array([row["document"] for row in tail], np.int64)
        yield View(documents, _floats(b"".join(row["data"] for row in tail), len(tail)))


def _floats(data: bytes, rows: int) -> Floats:
    return np.frombuffer(data, np.float32).reshape(rows, -1)
