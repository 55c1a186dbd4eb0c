"""What is special about a SQLite file: copies of it, and traces that go behind the answer."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory_server.domain.erasure import Traces
from memory_server.errors import NoBackup
from memory_server.ports.store import Store
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.conformance.archive import WHOLE, populate, reading
from tests.factories import PROJECT, SESSION, a_scope, a_turn
from tests.integration.storage.sqlite_stores import InFile, InMemory
from tests.integration.storage.test_sqlite_erasure import SECRET, keep_secrets, read_from


class TestTraces:
    """A file that is too large to be written anew before the answer."""

    @pytest.fixture
    async def store(self, tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
        path = tmp_path / "data" / "memory.db"
        store = SqliteStore(path, clock=clock, rewritten_at_once_bytes=0)
        await store.open()
        yield store
        await store.close()

    async def test_traces_of_a_large_file_are_told_of_until_they_are_removed(
        self, store: SqliteStore, tmp_path: Path
    ) -> None:
        await keep_secrets(store, "ana")

        counts = await store.erase(a_scope(user_id="ana"))

        assert counts["turns"] == 150
        assert await store.traces() is Traces.LEFT
        assert (await store.describe())["traces"] == "being removed"
        await store.remove_traces()
        assert (await store.describe())["traces"] == "none"
        assert SECRET[:6].encode() not in read_from(tmp_path / "data")

    async def test_traces_are_not_forgotten_by_a_restart(self, store: SqliteStore) -> None:
        await store.turns.append(a_turn())
        await store.erase(a_scope())

        await store.close()
        await store.open()

        assert await store.traces() is Traces.LEFT

    async def test_traces_stay_while_an_export_reads_what_was_before(
        self, store: SqliteStore
    ) -> None:
        await populate(store)
        async with reading(store, WHOLE) as begun:
            await store.erase(a_scope())
            await store.remove_traces()
            assert await store.traces() is Traces.LEFT
            assert [portion async for portion in begun.portions()]

        while await store.traces() is Traces.LEFT:  # the reading lets go in its own thread
            await store.remove_traces()


class TestCopies(InFile):
    async def test_a_copy_is_a_store_of_the_moment_it_was_made(
        self, store: Store, tmp_path: Path, clock: ManualClock
    ) -> None:
        await populate(store)
        before = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=99)

        with await store.copy() as copy:
            await store.turns.append(a_turn("too late"))
            (tmp_path / "copy.db").write_bytes(copy.read())

        restored = SqliteStore(tmp_path / "copy.db", clock=clock)
        await restored.open()
        assert await restored.turns.run(PROJECT, SESSION, first_seq=1, last_seq=99) == before
        await restored.close()

    async def test_a_copy_made_while_turns_are_recorded_is_sound(
        self, store: Store, tmp_path: Path
    ) -> None:
        async def record(session: int) -> None:
            for _ in range(20):
                await store.turns.append(a_turn(session_id=f"s{session}"))

        recording = [asyncio.ensure_future(record(session)) for session in range(5)]
        copies = [await store.copy() for _ in range(3)]
        await asyncio.gather(*recording)

        for number, copy in enumerate(copies):
            path = tmp_path / f"copy-{number}.db"
            with copy:
                path.write_bytes(copy.read())
            with contextlib.closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    async def test_a_copy_leaves_no_file_behind(self, store: Store, tmp_path: Path) -> None:
        there = set((tmp_path / "data").iterdir())

        with await store.copy():
            assert set((tmp_path / "data").iterdir()) == there

    async def test_a_copy_that_a_killed_server_left_is_removed(
        self, store: Store, tmp_path: Path
    ) -> None:
        left = tmp_path / "data" / "memory.db.copy-0123456789abcdef"
        await store.close()
        left.write_bytes(b"everything")

        await store.open()

        assert not left.exists()


class TestNoCopies(InMemory):
    async def test_a_store_in_memory_has_no_file_to_copy(self, store: Store) -> None:
        with pytest.raises(NoBackup):
            await store.copy()
