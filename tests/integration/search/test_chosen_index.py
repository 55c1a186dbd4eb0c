"""A MongoDB store is searched by Atlas where the deployment has it, and by a mirror otherwise."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.collection import AsyncCollection

from memory_server.domain.chunk import Source
from memory_server.project_config import EmbeddingConfig
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from tests.atlas import QUOTA, AtlasStandIn
from tests.clock import START, ManualClock
from tests.conformance.search import LEGS, a_selection, ids, know, say
from tests.factories import SPACE, a_memory, a_turn


class DatabaseWithAtlas(MongoDatabase):
    """A database whose collections have search indexes."""

    def __init__(self, uri: str, name: str) -> None:
        super().__init__(uri, name)
        self.atlas = AtlasStandIn(MongoDatabase(uri, name))
        self.atlas._database = _Plain(self)  # type: ignore[assignment]

    def __getitem__(self, collection: str) -> AsyncCollection[dict[str, Any]]:
        return self.atlas[collection]


class _Plain:
    """The same database without them."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self.translated = database.translated

    def __getitem__(self, collection: str) -> AsyncCollection[dict[str, Any]]:
        return MongoDatabase.__getitem__(self._database, collection)


@pytest.fixture
async def database(mongodb: str) -> AsyncIterator[DatabaseWithAtlas]:
    database = DatabaseWithAtlas(mongodb, f"memory_test_{uuid.uuid4().hex[:16]}")
    yield database
    await database.open()
    await database.client.drop_database(database.name)
    await database.close()


async def opened(database: MongoDatabase, clock: ManualClock, directory: Path) -> MongoStore:
    """Return the store, open anew, over a database whose model is known."""
    store = MongoStore(database, clock=clock, directory=directory)
    await store.open()
    model = EmbeddingConfig(provider="local", model=SPACE.model, dimension=SPACE.dimension)
    await store.spaces.declare(model, now=START)
    await store.close()
    await store.open()
    return store


async def test_where_atlas_answers_for_all_there_is_no_mirror(
    database: DatabaseWithAtlas, clock: ManualClock, tmp_path: Path
) -> None:
    store = await opened(database, clock, tmp_path)
    await know(store, memory := a_memory())

    described = await store.search.describe()

    assert described["kind"] == "atlas_search"
    assert "instead" not in described
    assert await asyncio.to_thread(lambda: list(tmp_path.glob("*.sqlite"))) == []
    for leg in LEGS:
        assert await ids(store, leg, a_selection()) == [memory.id]
    await store.close()


async def test_what_a_small_cluster_has_no_room_for_is_searched_by_the_mirror(
    database: DatabaseWithAtlas, clock: ManualClock, tmp_path: Path
) -> None:
    database.atlas.most_indexes = 2
    store = await opened(database, clock, tmp_path)
    await know(store, memory := a_memory())
    await say(store, turn := a_turn())

    described = await store.search.describe()

    assert described["kind"] == "atlas_search"
    assert described["instead"]["kind"] == "local_mirror"
    reasons = {one.get("reason") for one in described["indexes"] if one["status"] == "QUOTA"}
    assert QUOTA in reasons
    for leg in LEGS:
        assert await ids(store, leg, a_selection()) == [memory.id]
        assert await ids(store, leg, a_selection(Source.STM)) == [turn.id]
    await store.close()
