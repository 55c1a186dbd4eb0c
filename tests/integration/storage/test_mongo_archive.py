"""What is special about archives on MongoDB: their moment, and the way to other stores."""

import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pymongo
import pytest
from pymongo.asynchronous.cursor import AsyncCursor
from pymongo.errors import OperationFailure
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent
from pymongo.monitoring import CommandSucceededEvent as CommandSucceeded

from memory_server.domain.archive import Outcome
from memory_server.domain.archive_lines import item_line
from memory_server.domain.scope import Scope
from memory_server.errors import NoBackup, StorageUnavailable
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.conformance.archive import (
    WHOLE,
    MomentOfArchiveContract,
    exported,
    held,
    moved,
    populate,
    reading,
)
from tests.factories import PROJECT
from tests.integration.storage.mongo_stores import OnMongo

NAMED = "MEMORY_TEST_MONGODB_URI"


class Heard(CommandListener):
    """Hears the commands of every client that is made after it."""

    def __init__(self) -> None:
        self.commands: list[dict[str, Any]] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.commands.append(dict(event.command))

    def succeeded(self, event: CommandSucceeded) -> None:
        pass

    def failed(self, event: CommandFailedEvent) -> None:
        pass


@pytest.mark.skipif(NAMED not in os.environ, reason=f"a test server keeps no moment: set {NAMED}")
class TestMoment(OnMongo, MomentOfArchiveContract):
    pass


class TestReading(OnMongo):
    async def test_every_read_is_of_the_moment_of_the_first(
        self, mongodb: str, clock: ManualClock
    ) -> None:
        heard = Heard()
        pymongo.monitoring.register(heard)
        database = MongoDatabase(mongodb, f"memory_test_{uuid.uuid4().hex[:16]}")
        store = MongoStore(database, clock=clock)
        await store.open()
        await populate(store)
        heard.commands.clear()

        await exported(store)

        reads = [one for one in heard.commands if "find" in one or "aggregate" in one]
        mine = [one for one in reads if one.get("readConcern", {}).get("level") == "snapshot"]
        first, *others = [one["readConcern"] for one in mine]
        assert "atClusterTime" not in first
        assert len(others) > 10
        assert {one["atClusterTime"] for one in others} == {others[0]["atClusterTime"]}
        await database.client.drop_database(database.name)
        await store.close()

    async def test_a_moment_that_is_gone_is_told_with_what_to_do(
        self, store: MongoStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def too_old(cursor: object) -> None:
            raise OperationFailure("SnapshotTooOld", 239)

        async with reading(store, WHOLE) as begun:
            monkeypatch.setattr(AsyncCursor, "to_list", too_old)
            with pytest.raises(StorageUnavailable, match="minSnapshotHistoryWindowInSeconds"):
                [portion async for portion in begun.portions()]

    async def test_a_deployment_is_not_copied_by_a_server(self, store: MongoStore) -> None:
        with pytest.raises(NoBackup, match=r"mongodump.*memory export"):
            await store.copy()


class TestTheWayToAnotherStore(OnMongo):
    @pytest.fixture
    async def files(
        self, tmp_path: Path, clock: ManualClock
    ) -> AsyncIterator[tuple[SqliteStore, SqliteStore]]:
        first, second = [
            SqliteStore(tmp_path / name / "memory.db", clock=clock) for name in ("one", "two")
        ]
        await first.open()
        await second.open()
        yield first, second
        await first.close()
        await second.close()

    async def test_from_sqlite_to_mongodb_and_back_nothing_changes(
        self, store: MongoStore, files: tuple[SqliteStore, SqliteStore]
    ) -> None:
        home, back = files
        await populate(home)
        await home.erase(Scope(project_id="bank"))  # words are counted over a whole index
        items = await exported(home)

        outcomes = [
            *await moved(store, items, PROJECT),
            *await moved(back, await exported(store), PROJECT),
        ]

        assert set(outcomes) == {Outcome.NEW}
        expected = rounded(await held(home, PROJECT))
        assert rounded(await held(store, PROJECT)) == expected
        assert rounded(await held(back, PROJECT)) == expected
        lines = {item_line(one) for one in items}
        for other in (store, back):
            assert {item_line(one) for one in await exported(other)} == lines


def rounded(held: dict[str, Any]) -> dict[str, Any]:
    """Return what is held, with scores to the precision that both stores have."""
    found = [
        [[(hit.id, round(hit.score, 4)) for hit in hits] for hits in legs] for legs in held["found"]
    ]
    return held | {"found": found}
