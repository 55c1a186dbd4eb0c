"""The two ways in which the SQLite store is used, for every suite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory_server.ports.store import Store
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock


class InFile:
    """The store over a file."""

    @pytest.fixture
    async def store(self, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
        store = SqliteStore(tmp_path / "data" / "memory.db", clock=clock)
        await store.open()
        yield store
        await store.close()


class InMemory:
    """The store as unit tests use it."""

    @pytest.fixture
    async def store(self, clock: ManualClock) -> AsyncIterator[Store]:
        store = SqliteStore(None, clock=clock)
        await store.open()
        yield store
        await store.close()
