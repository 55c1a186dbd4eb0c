"""The group-commit writer: who shares a transaction, and who suffers from whom."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from memory_server.errors import StorageError, StorageFull, StorageUnavailable
from memory_server.storage.sqlite.connection import open_reader, open_writer
from memory_server.storage.sqlite.writer import Operation, Writer

FUSE = 20
"""Seconds after which a caller whom nobody answers gives up: a failure, not a wait without end."""


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[sqlite3.Connection]:
    connection = open_writer(tmp_path / "test.db")
    connection.execute("CREATE TABLE t (x INTEGER UNIQUE, y BLOB)")
    yield connection
    connection.close()


@pytest.fixture
async def writer(connection: sqlite3.Connection) -> AsyncIterator[Writer]:
    writer = Writer(connection, "test.db")
    yield writer
    await writer.stop()


def insert(x: int, y: bytes = b"") -> Operation[int]:
    def operation(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?, ?)", (x, y))
        return x

    return operation


class Batch:
    """Holds the writer up, so that everything queued meanwhile is committed together."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._go = Event()
        self._held = asyncio.ensure_future(writer.run(lambda _: self._go.wait()))

    async def run(self, *operations: Operation[int]) -> list[int | BaseException]:
        calls = [asyncio.ensure_future(self._writer.run(one)) for one in operations]
        await asyncio.sleep(0)
        self._go.set()
        async with asyncio.timeout(FUSE):
            _, *results = await asyncio.gather(self._held, *calls, return_exceptions=True)
        return results


def rows(connection: sqlite3.Connection) -> list[int]:
    return [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]


async def test_an_operation_is_answered_with_what_it_returns(writer: Writer) -> None:
    assert await writer.run(insert(7)) == 7


async def test_what_was_answered_is_committed(
    writer: Writer, connection: sqlite3.Connection, tmp_path: Path
) -> None:
    await writer.run(insert(1))

    reader = open_reader(tmp_path / "test.db")
    assert rows(reader) == [1]
    reader.close()


async def test_operations_that_wait_share_a_commit(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    statements: list[str] = []
    batch = Batch(writer)
    await asyncio.sleep(0)
    connection.set_trace_callback(statements.append)

    await batch.run(*(insert(x) for x in range(20)))

    assert statements.count("COMMIT") <= 2  # the one that held them up, and theirs
    assert rows(connection) == list(range(20))


async def test_a_failing_operation_leaves_its_batch_alone(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    def half_done(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (99, NULL)")
        raise LookupError("no such thing")

    results = await Batch(writer).run(insert(1), half_done, insert(2))

    assert results[0] == 1
    assert isinstance(results[1], LookupError)
    assert results[2] == 2
    assert rows(connection) == [1, 2]


async def test_a_violated_constraint_fails_one_operation_only(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    results = await Batch(writer).run(insert(1), insert(1), insert(2))

    assert [type(one) for one in results] == [int, StorageError, int]


async def test_an_error_at_commit_fails_the_whole_batch(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("CREATE TABLE child (x REFERENCES t (x) DEFERRABLE INITIALLY DEFERRED)")

    def orphan(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO child VALUES (404)")  # noticed when it is committed
        return 1

    results = await Batch(writer).run(insert(1), orphan, insert(2))

    assert [type(one) for one in results] == [StorageError] * 3
    assert rows(connection) == []
    assert await writer.run(insert(3)) == 3


async def test_a_full_disk_fails_what_needs_room_and_nothing_is_half_written(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    with pytest.raises(StorageFull, match=r"test\.db: .*free some disk space"):
        await writer.run(insert(1, bytes(100_000)))

    assert rows(connection) == []
    connection.execute("PRAGMA max_page_count = 1000000")
    assert await writer.run(insert(1, bytes(100_000))) == 1


async def test_a_cancelled_caller_does_not_break_the_batch(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    go = Event()
    held = asyncio.ensure_future(writer.run(lambda _: go.wait()))
    calls = [asyncio.ensure_future(writer.run(insert(x))) for x in range(3)]
    await asyncio.sleep(0)

    calls[1].cancel()
    go.set()
    results = await asyncio.gather(held, *calls, return_exceptions=True)

    assert [type(one) for one in results] == [bool, int, asyncio.CancelledError, int]
    assert {0, 2} <= set(rows(connection))


async def test_a_database_held_by_another_program_is_unavailable(
    writer: Writer, connection: sqlite3.Connection, tmp_path: Path
) -> None:
    connection.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(tmp_path / "test.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StorageUnavailable):
        await writer.run(insert(1))

    other.close()
    assert await writer.run(insert(1)) == 1


class Failing:
    """A connection whose statements fail as long as it is told to."""

    def __init__(self, connection: sqlite3.Connection, *failing: str) -> None:
        self._connection = connection
        self.failing = set(failing)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        self._fail(statement)
        return self._connection.execute(statement, *values)

    def rollback(self) -> None:
        self._fail("ROLLBACK")
        self._connection.rollback()

    def _fail(self, statement: str) -> None:
        if statement in self.failing:
            raise sqlite3.OperationalError(f"disk I/O error at {statement}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


STATEMENTS = ("BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT operation", "RELEASE operation")


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("also", [(), ("ROLLBACK",)], ids=["rolled back", "rollback fails too"])
async def test_whatever_fails_every_caller_is_answered_and_the_writer_goes_on(
    connection: sqlite3.Connection, statement: str, also: tuple[str, ...]
) -> None:
    failing = Failing(connection, statement, *also)
    writer = Writer(cast(sqlite3.Connection, failing), "test.db")

    results = await Batch(writer).run(insert(1), insert(2))
    assert [type(one) for one in results] == [StorageError] * 2

    failing.failing.clear()
    assert await writer.run(insert(3)) == 3
    assert rows(connection) == [3]
    await writer.stop()


async def test_a_savepoint_that_cannot_be_left_fails_the_batch(
    connection: sqlite3.Connection,
) -> None:
    failing = Failing(connection, "ROLLBACK TO operation", "ROLLBACK")
    writer = Writer(cast(sqlite3.Connection, failing), "test.db")

    results = await Batch(writer).run(insert(1), insert(1), insert(2))

    assert [type(one) for one in results] == [StorageError] * 3
    await writer.stop()


async def test_an_operation_that_stops_an_iteration_leaves_its_batch_alone(writer: Writer) -> None:
    def stop(_: sqlite3.Connection) -> int:
        raise StopIteration

    results = await Batch(writer).run(insert(1), stop, insert(2))

    assert [type(one) for one in results] == [int, RuntimeError, int]


async def test_a_writer_that_ends_answers_whoever_waits_and_takes_nothing_more(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def end(_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(writer, "_commit", end)
    calls = [asyncio.ensure_future(writer.run(insert(x))) for x in range(5)]

    async with asyncio.timeout(FUSE):
        results = await asyncio.gather(*calls, return_exceptions=True)

    assert {type(one) for one in results} == {StorageUnavailable}
    with pytest.raises(StorageUnavailable, match="start the server anew"):
        await writer.run(insert(9))
    with pytest.raises(StorageUnavailable, match="start the server anew"):
        writer.check()
    assert "the writer has ended" in caplog.text


async def test_what_came_while_the_writer_ended_is_answered(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last look of the thread is over when the operation is queued."""
    writer = Writer(connection, "test.db")
    monkeypatch.setattr(writer, "check", lambda: None)
    await writer.stop()

    with pytest.raises(StorageUnavailable):
        async with asyncio.timeout(FUSE):
            await writer.run(insert(1))


async def test_a_stopped_writer_has_carried_out_what_was_queued(
    connection: sqlite3.Connection,
) -> None:
    writer = Writer(connection, "test.db")
    calls = [asyncio.ensure_future(writer.run(insert(x))) for x in range(5)]
    await asyncio.sleep(0)

    await writer.stop()

    assert await asyncio.gather(*calls) == list(range(5))
    with pytest.raises(StorageUnavailable, match="closed"):
        await writer.run(insert(9))


async def test_what_runs_alone_is_in_no_transaction_and_comes_after_what_was_queued(
    writer: Writer,
) -> None:
    first = asyncio.ensure_future(writer.run(insert(1)))
    alone = asyncio.ensure_future(writer.run_alone(lambda db: (db.in_transaction, rows(db))))

    assert await alone == (False, [1])
    assert await first == 1


async def test_what_fails_alone_is_rolled_back_and_told(
    writer: Writer, connection: sqlite3.Connection
) -> None:
    def fail(db: sqlite3.Connection) -> None:
        db.execute("BEGIN")
        insert(1)(db)
        db.execute("no statement")

    with pytest.raises(StorageError, match="no"):
        await writer.run_alone(fail)

    assert await writer.run(insert(2)) == 2
    assert rows(connection) == [2]


async def test_the_event_loop_runs_while_the_writer_works(writer: Writer) -> None:
    go = Event()
    held = asyncio.ensure_future(writer.run(lambda _: go.wait()))

    await asyncio.sleep(0)  # the loop is free: otherwise nothing would ever set the event
    go.set()

    assert await held
