"""Vectors on disk and in memory: packed, removed, loaded anew, and always the same answer."""

import asyncio
import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.search.local import vectors
from memory_server.search.local.matrices import Floats, Matrices, Partition
from memory_server.search.local.scan import nearest
from memory_server.search.local.vectors import SEGMENT, Place, spaced
from memory_server.storage.sqlite.connection import open_writer
from memory_server.storage.sqlite.schema import migrate, migrations

SPACE = EmbeddingSpace(model="tiny", dimension=3)
QUERY = np.array([1, 0, 0], np.float32)
ROOMY = 1 << 20


def new_database() -> sqlite3.Connection:
    connection = open_writer(None)
    migrate(connection, migrations(), "test")
    return connection


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = new_database()
    yield connection
    connection.close()


def a_place(document: int, *, past: bool = False) -> Place:
    return Place(document=document, project_id="shop", source="stm", user_id="ana", past=past)


def direction(number: int) -> Floats:
    """Return a unit vector whose cosine with `QUERY` tells it apart from others."""
    angle = np.float32(number % 3001) / 1000
    return np.array([np.cos(angle), np.sin(angle), 0], np.float32)


def store(db: sqlite3.Connection, document: int, number: int | None = None) -> None:
    vector = direction(document if number is None else number)
    vectors.store(db, a_place(document), spaced(vector, SPACE))


def partitions(db: sqlite3.Connection, *, past: bool = False) -> list[Partition]:
    where = {"source": "stm", "space": SPACE.name, "past": past}
    rows = db.execute(vectors.SQL["scanned"], where)
    return [Partition(r["id"], r["dimension"], r["changes"], r["vectors"]) for r in rows]


def scan(db: sqlite3.Connection, matrices: Matrices, limit: int = 10_000) -> dict[int, float]:
    views = (view for one in partitions(db) for view in matrices.views(db, one))
    return dict(nearest(views, QUERY, limit=limit, allowed=None))


def expected(numbers: dict[int, int]) -> dict[int, Any]:
    return {one: pytest.approx(float(direction(n)[0]), abs=2e-6) for one, n in numbers.items()}


def count(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 a literal


def test_a_full_tail_is_packed_into_a_segment(db: sqlite3.Connection) -> None:
    for document in range(1, 2 * SEGMENT + 8):
        store(db, document)

    assert count(db, "vector_segments") == 2
    assert count(db, "vector_tail") == 7


@pytest.mark.parametrize("limit_bytes", [ROOMY, 0], ids=["in memory", "segment by segment"])
def test_packed_vectors_and_the_tail_are_scanned_together(
    db: sqlite3.Connection, limit_bytes: int
) -> None:
    numbers = {document: document for document in range(1, SEGMENT + 8)}
    for document in numbers:
        store(db, document)

    assert scan(db, Matrices(limit_bytes)) == expected(numbers)


def test_a_matrix_in_memory_is_brought_up_to_date(db: sqlite3.Connection) -> None:
    matrices = Matrices(ROOMY)
    numbers: dict[int, int] = {}
    for document in range(1, 2 * SEGMENT, 40):
        for one in range(document, document + 40):
            store(db, one)
            numbers[one] = one
        vectors.remove(db, document)
        del numbers[document]

        assert scan(db, matrices) == expected(numbers)


@pytest.mark.parametrize("document", [7, SEGMENT + 2], ids=["packed", "in the tail"])
def test_a_vector_removed_after_it_was_loaded_is_not_found(
    db: sqlite3.Connection, document: int
) -> None:
    matrices = Matrices(ROOMY)
    numbers = {one: one for one in range(1, SEGMENT + 4)}
    for one in numbers:
        store(db, one)
    scan(db, matrices)

    vectors.remove(db, document)

    del numbers[document]
    assert scan(db, matrices) == expected(numbers)


def test_a_matrix_that_missed_too_much_is_loaded_anew(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.search.local.vectors.REMEMBERED_CHANGES", 5)
    monkeypatch.setattr("memory_server.search.local.matrices.REMEMBERED_CHANGES", 5)
    matrices = Matrices(ROOMY)
    for document in range(1, 20):
        store(db, document)
    scan(db, matrices)

    for document in range(1, 15):
        vectors.remove(db, document)

    assert count(db, "vector_removals") == 5
    assert scan(db, matrices) == expected({document: document for document in range(15, 20)})


def test_a_removed_vector_is_overwritten_at_once(db: sqlite3.Connection) -> None:
    for document in range(1, SEGMENT + 2):
        store(db, document)

    for document in (7, SEGMENT + 1):
        vectors.remove(db, document)

    kept = b"".join(
        row[0]
        for table in ("vector_segments", "vector_tail")
        for row in db.execute(f"SELECT data FROM {table}")  # noqa: S608 a literal
    )
    assert direction(7).tobytes() not in kept
    assert direction(SEGMENT + 1).tobytes() not in kept
    assert direction(8).tobytes() in kept


def test_a_segment_of_which_a_quarter_is_removed_is_written_anew(db: sqlite3.Connection) -> None:
    for document in range(1, SEGMENT + 1):
        store(db, document)

    sizes = []
    for document in range(1, SEGMENT // 4 + 1):
        sizes.append(db.execute("SELECT size FROM vector_segments").fetchone()[0])
        vectors.remove(db, document)

    assert set(sizes) == {SEGMENT}
    assert db.execute("SELECT size FROM vector_segments").fetchone()[0] == SEGMENT * 3 // 4


def test_small_segments_are_joined(db: sqlite3.Connection) -> None:
    for document in range(1, 2 * SEGMENT + 1):
        store(db, document)

    for document in range(1, 2 * SEGMENT + 1):
        if document % 4:
            vectors.remove(db, document)

    assert count(db, "vector_segments") == 1
    left = {document: document for document in range(4, 2 * SEGMENT + 1, 4)}
    assert scan(db, Matrices(ROOMY)) == expected(left)


def test_a_partition_without_vectors_leaves_no_segment(db: sqlite3.Connection) -> None:
    for document in range(1, SEGMENT + 1):
        store(db, document)

    for document in range(1, SEGMENT + 1):
        vectors.remove(db, document)

    assert count(db, "vector_segments") == 0
    assert scan(db, Matrices(ROOMY)) == {}


def test_a_vector_moves_with_its_document(db: sqlite3.Connection) -> None:
    for document in range(1, SEGMENT + 2):
        store(db, document)

    vectors.move(db, a_place(3, past=True))

    assert 3 not in scan(db, Matrices(ROOMY))
    (_, past) = partitions(db, past=True)
    views = Matrices(ROOMY).views(db, past)
    assert dict(nearest(views, QUERY, limit=9, allowed=None)) == expected({3: 3})


def test_what_is_in_memory_keeps_within_its_bound(db: sqlite3.Connection) -> None:
    matrices = Matrices(10_000)
    for user in ("ana", "bob", "cem", "dia"):
        for document in range(100):
            place = Place(
                document=hash((user, document)),
                project_id="shop",
                source="stm",
                user_id=user,
                past=False,
            )
            vectors.store(db, place, spaced(direction(document), SPACE))

    for row in db.execute("SELECT id, dimension, changes, vectors FROM partitions").fetchall():
        partition = Partition(row["id"], row["dimension"], row["changes"], row["vectors"])
        list(matrices.views(db, partition))

        assert 0 < matrices.size_bytes <= 10_000


def test_only_allowed_documents_are_found(db: sqlite3.Connection) -> None:
    for document in range(1, 100):
        store(db, document)
    (partition,) = partitions(db)

    for allowed in ([5], list(range(2, 90)), [500], []):
        views = Matrices(ROOMY).views(db, partition)
        found = nearest(views, QUERY, limit=99, allowed=np.array(allowed, np.int64))

        assert dict(found) == expected({one: one for one in allowed if one < 100})


def test_all_that_tie_with_the_last_are_kept_for_the_caller_to_order(
    db: sqlite3.Connection,
) -> None:
    for document in range(1, 50):
        store(db, document, 700)
    (partition,) = partitions(db)

    found = nearest(Matrices(ROOMY).views(db, partition), QUERY, limit=3, allowed=None)

    assert {document for document, _ in found} == set(range(1, 50))
    assert len({score for _, score in found}) == 1


class VectorMachine(RuleBasedStateMachine):
    """Any order of writes and scans gives what a dictionary would."""

    def __init__(self) -> None:
        super().__init__()
        self.db = new_database()
        self.kept = Matrices(ROOMY)
        self.cramped = Matrices(2_000)
        self.numbers: dict[int, int] = {}
        self.last = 0

    def teardown(self) -> None:
        self.db.close()

    @rule(many=st.integers(1, 300))
    def append(self, many: int) -> None:
        for _ in range(many):
            self.last += 1
            store(self.db, self.last)
            self.numbers[self.last] = self.last

    @precondition(lambda self: self.numbers)
    @rule(data=st.data(), share=st.floats(0, 1))
    def remove(self, data: st.DataObject, share: float) -> None:
        documents = sorted(self.numbers)
        start = data.draw(st.integers(0, len(documents) - 1))
        for document in documents[start : start + int(share * len(documents)) + 1]:
            vectors.remove(self.db, document)
            del self.numbers[document]

    @precondition(lambda self: self.numbers)
    @rule(data=st.data(), number=st.integers(0, 3000))
    def replace(self, data: st.DataObject, number: int) -> None:
        document = data.draw(st.sampled_from(sorted(self.numbers)))
        store(self.db, document, number)
        self.numbers[document] = number

    @rule()
    def scan_what_is_kept(self) -> None:
        assert scan(self.db, self.kept) == expected(self.numbers)

    @rule()
    def scan_in_little_room(self) -> None:
        assert scan(self.db, self.cramped) == expected(self.numbers)
        assert self.cramped.size_bytes <= self.cramped.limit_bytes

    @invariant()
    def counts_agree(self) -> None:
        assert sum(one.vectors for one in partitions(self.db)) == len(self.numbers)
        assert count(self.db, "vector_places") == len(self.numbers)


VectorMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)
TestVectorMachine = VectorMachine.TestCase


async def test_searches_beside_writes_see_a_consistent_prefix(
    db: sqlite3.Connection,
) -> None:
    matrices = Matrices(ROOMY)
    seen: list[int] = []

    def look() -> None:
        found = scan(db, matrices)
        assert found == expected({one: one for one in found})
        seen.append(len(found))

    for document in range(1, 600):
        store(db, document)
        if document % 50 == 0:
            await asyncio.gather(*(asyncio.to_thread(look) for _ in range(3)))

    assert seen == sorted(seen)
