"""The MongoDB store searched by Atlas, as far as a stand-in can be Atlas."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.atlas import AtlasSearch
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.mirror.source import StoredDocuments
from tests.atlas import AtlasStandIn
from tests.clock import ManualClock
from tests.factories import OTHER_SPACE, SPACE
from tests.integration.storage.mongo_stores import following
from tests.mongo import SharedDatabase


class NotAsked(SearchIndex):
    """What must not be asked while Atlas answers."""

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        raise AssertionError("Atlas was not asked for words")

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        raise AssertionError("Atlas was not asked for vectors")

    async def describe(self) -> dict[str, Any]:
        raise AssertionError("Atlas describes itself")


async def _spaces() -> Sequence[EmbeddingSpace]:
    return [SPACE, OTHER_SPACE]


class AtlasStore(MongoStore):
    """The store with an index of the stand-in in the place of its own."""

    def __init__(self, database: MongoDatabase, atlas: AtlasStandIn, clock: ManualClock) -> None:
        super().__init__(database, clock=clock)
        self.atlas = atlas
        self.index = AtlasSearch(
            atlas,
            StoredDocuments(database),
            instead=NotAsked(),
            clock=clock,
            spaces=_spaces,
        )
        database.listen(self.index.listen)

    @property
    def search(self) -> SearchIndex:
        return self.index


class OnAtlas:
    """The store over the database that tests share; Atlas knows at once of what is written."""

    @pytest.fixture
    async def store(
        self, mongo_database: SharedDatabase, clock: ManualClock
    ) -> AsyncIterator[AtlasStore]:
        database = MongoDatabase(mongo_database.uri, mongo_database.name)
        store = AtlasStore(database, AtlasStandIn(database), clock)
        await store.open()
        await store.index.open()
        yield store
        await store.index.close()
        await following(super(AtlasStore, store).search)
        await store.close()
