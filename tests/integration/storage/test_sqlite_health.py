"""Whether the store is well: what a look at it notices, and how often it tries a write."""

import sqlite3
from pathlib import Path

import pytest

from memory_server.errors import InvalidRequest, StorageError, StorageFull, StorageUnavailable
from memory_server.ports.store import Store
from memory_server.storage.sqlite import SqliteStore
from memory_server.storage.sqlite.heartbeat import PAUSE
from tests.clock import ManualClock
from tests.factories import a_turn
from tests.integration.storage.sqlite_stores import InFile, InMemory


def opened(store: Store) -> SqliteStore:
    """Return the store for a look inside."""
    assert isinstance(store, SqliteStore)
    return store


async def traced(store: Store) -> list[str]:
    """Return a list to which every statement of the writer is added."""
    statements: list[str] = []
    await opened(store)._database.write(lambda db: db.set_trace_callback(statements.append))
    return statements


def beats(statements: list[str]) -> int:
    return sum("heartbeat" in one for one in statements)


async def resize(store: Store, *, pages: int | None) -> None:
    """Leave the disk this many more pages, or plenty."""

    def limit(connection: sqlite3.Connection) -> None:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        most = 1_000_000 if pages is None else used + pages
        connection.execute(f"PRAGMA max_page_count = {most}")

    await opened(store)._database.write(limit)


class HealthOfStore:
    async def test_a_look_tries_a_write(self, store: Store) -> None:
        statements = await traced(store)

        await store.ping()

        assert beats(statements) == 1

    async def test_looks_in_quick_succession_try_one_write(
        self, store: Store, clock: ManualClock
    ) -> None:
        statements = await traced(store)

        for _ in range(5):
            await store.ping()
        assert beats(statements) == 1

        clock.advance(by=PAUSE)
        await store.ping()
        assert beats(statements) == 2

    async def test_a_writer_that_has_ended_is_noticed(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def end(_: object) -> None:
            raise SystemExit

        await store.ping()
        database = opened(store)._database
        assert database._open is not None
        monkeypatch.setattr(database._open.writer, "_commit", end)
        with pytest.raises(StorageUnavailable):
            await store.turns.append(a_turn())

        with pytest.raises(StorageUnavailable, match="start the server anew"):
            await store.ping()

    async def test_a_store_that_can_be_read_and_not_written_is_not_well(self, store: Store) -> None:
        await opened(store)._database.write(lambda db: db.execute("DROP TABLE heartbeat").rowcount)

        with pytest.raises(StorageError, match="heartbeat"):
            await store.ping()
        with pytest.raises(StorageError, match="heartbeat"):
            await store.ping()


class TestHealthInFile(InFile, HealthOfStore):
    async def test_a_full_disk_is_noticed_and_so_is_room(
        self, store: Store, clock: ManualClock
    ) -> None:
        """One row of the look's own may still find room: what failed for others counts."""
        await store.ping()
        await resize(store, pages=2)
        with pytest.raises(StorageFull):
            await store.turns.append(a_turn("x" * 100_000))

        for _ in range(2):
            with pytest.raises(StorageFull, match="free some disk space"):
                await store.ping()

        await resize(store, pages=None)
        clock.advance(by=PAUSE)
        await store.ping()

    async def test_a_request_that_fails_for_its_own_reasons_is_no_illness(
        self, store: Store
    ) -> None:
        with pytest.raises(InvalidRequest):
            await store.turns.append(a_turn("half \ud83d of a pair"))

        await store.ping()

    async def test_a_database_held_by_another_program_is_noticed(
        self, store: Store, tmp_path: Path
    ) -> None:
        await opened(store)._database.write(
            lambda db: db.execute("PRAGMA busy_timeout = 0").fetchone()
        )
        other = sqlite3.connect(tmp_path / "data" / "memory.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StorageUnavailable):
            await store.ping()

        other.close()

    async def test_a_store_opened_again_is_looked_at_anew(self, store: Store) -> None:
        await store.ping()
        await store.close()
        await store.open()
        statements = await traced(store)

        await store.ping()

        assert beats(statements) == 1


class TestHealthInMemory(InMemory, HealthOfStore):
    pass
