"""The index of a server whose deployment has Atlas Search."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.memory import MemoryType
from memory_server.errors import MemoryServerError
from memory_server.ports.clock import Clock
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.search.atlas.deployment import Database
from memory_server.search.atlas.index import AtlasIndex
from memory_server.search.atlas.indexes import AtlasIndexes
from memory_server.storage.mongo.collections import MEMORIES, TURNS
from memory_server.storage.mongo.documents import identity
from memory_server.storage.mongo.filters import filter_query
from memory_server.storage.mongo.mirror.source import Source as Stored
from memory_server.storage.mongo.recent import RecentWrites

logger = logging.getLogger(__name__)

COLLECTIONS: Mapping[Source, str] = {
    source: TURNS if source is Source.STM else MEMORIES[MemoryType(source.value)]
    for source in Source
}

TEND_SECONDS = 5.0
"""How often the indexes are looked after, and what was written lately is looked for in them."""


class AtlasSearch(SearchIndex):
    """Atlas, what was written too lately for it, and the task that looks after both."""

    def __init__(
        self,
        database: Database,
        stored: Stored,
        *,
        instead: SearchIndex,
        clock: Clock,
        spaces: Callable[[], Awaitable[Sequence[EmbeddingSpace]]],
    ) -> None:
        """Prepare it; `instead` is asked where an index of Atlas is missing or being built.

        `spaces` tells whose vectors answer or are being made: they are indexed before they are
        asked for.
        """
        self._database = database
        self._clock = clock
        self._indexes = AtlasIndexes(database, COLLECTIONS, clock)
        self._spaces = spaces
        self._recent = RecentWrites(stored, COLLECTIONS, clock)
        self._index = AtlasIndex(
            database,
            COLLECTIONS,
            self._indexes,
            identity=identity,
            match=filter_query,
            recent=self._recent,
            instead=instead,
            clock=clock,
        )
        self._task: asyncio.Task[None] | None = None

    def listen(self, collection: str, ids: Sequence[str]) -> None:
        """Hear of what this server committed."""
        self._recent.listen(collection, ids)

    @property
    def is_complete(self) -> bool:
        """Whether every index that Atlas makes answers, so that nothing else need be asked."""
        return all(one["answers"] for one in self._indexes.describe())

    async def open(self) -> None:
        """Begin to look after the indexes."""
        await self._recent.open()
        await self.tend()
        self._task = asyncio.create_task(self._tend())

    async def close(self) -> None:
        """Stop looking after them; they stay."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._recent.close()

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        return await self._index.text(selection, terms)

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        return await self._index.vector(selection, vector, space)

    async def describe(self) -> Mapping[str, Any]:
        return await self._index.describe()

    async def tend(self) -> None:
        """Look after the indexes once."""
        for space in await self._spaces():
            self._indexes.need_space(space)
        if self._indexes.is_behind:
            await self._indexes.ensure()
        else:
            await self._indexes.refresh()
        await self._recent.settle(self._database, self._indexes)

    async def _tend(self) -> None:
        while True:
            await self._clock.sleep(TEND_SECONDS)
            try:
                await self.tend()
            except MemoryServerError as error:
                logger.warning("Atlas Search could not be looked after: %s", error)
            except Exception:
                logger.exception("Atlas Search could not be looked after: a fault of the program")
