"""Which index searches the database: chosen when the store is opened."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pymongo.errors import OperationFailure

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.ports.clock import Clock
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.ports.spaces import Spaces
from memory_server.search.atlas.probe import has_search
from memory_server.search.local.index import VECTOR_MEMORY_BYTES
from memory_server.storage.mongo.atlas import AtlasSearch
from memory_server.storage.mongo.collections import TURNS
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.mirror import MirroredIndex
from memory_server.storage.mongo.mirror.cache import remove_unused
from memory_server.storage.mongo.mirror.source import StoredDocuments

logger = logging.getLogger(__name__)


class ChosenIndex(SearchIndex):
    """Atlas Search where the deployment has it, else a mirror.

    Beside Atlas, the mirror is opened when it is needed: while an index of Atlas is being built, or
    where the cluster has no room for it. Once open, it stays until the store is closed.
    """

    def __init__(
        self,
        database: MongoDatabase,
        spaces: Spaces,
        *,
        clock: Clock,
        directory: Path | None,
        vector_memory_bytes: int = VECTOR_MEMORY_BYTES,
    ) -> None:
        """Prepare it; `directory` keeps the mirror's file."""
        self._database = database
        self._spaces = spaces
        self._directory = directory
        self._mirror = _OnDemand(
            database,
            MirroredIndex(
                database, clock=clock, directory=directory, vector_memory_bytes=vector_memory_bytes
            ),
        )
        self._atlas = AtlasSearch(
            database,
            StoredDocuments(database),
            instead=self._mirror,
            clock=clock,
            spaces=self._searched_spaces,
        )
        self._uses_atlas = False
        self._doubt: str | None = None
        database.listen(self._heard)

    async def open(self) -> None:
        """Ask what the deployment has, and open what searches it."""
        self._uses_atlas = await self._has_atlas()
        if self._uses_atlas:
            await self._atlas.open()
        if not self._uses_atlas or not self._atlas.is_complete:
            await self._mirror.opened()
        elif self._directory is not None:
            deployment = self._database.location
            await asyncio.to_thread(remove_unused, self._directory, deployment)

    async def close(self) -> None:
        """Close what is open."""
        await self._atlas.close()
        await self._mirror.close()

    async def has_traces(self) -> bool:
        """Whether words of what is gone may still be read from this machine's disk."""
        return self._mirror.is_open and await (await self._mirror.opened()).has_traces()

    async def remove_traces(self) -> None:
        """Leave nothing of what is gone on this machine's disk."""
        if self._mirror.is_open:
            await (await self._mirror.opened()).remove_traces()

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        return await self._chosen.text(selection, terms)

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        return await self._chosen.vector(selection, vector, space)

    async def describe(self) -> Mapping[str, Any]:
        if not self._uses_atlas:
            doubt = {} if self._doubt is None else {"atlas_search": self._doubt}
            return {**await self._mirror.describe(), **doubt}
        described = dict(await self._atlas.describe())
        if self._mirror.is_open:
            mirrored = await self._mirror.describe()
            described["instead"] = mirrored
            for name in ("is_ready", "state", "problem"):
                described[name] = mirrored[name]
        return described

    @property
    def _chosen(self) -> SearchIndex:
        return self._atlas if self._uses_atlas else self._mirror

    async def _has_atlas(self) -> bool:
        with self._database.translated():
            try:
                return await has_search(self._database[TURNS])
            except OperationFailure as error:
                self._doubt = f"cannot be told: {(error.details or {}).get('errmsg', error.code)}"
                logger.warning(
                    "whether the deployment has Atlas Search %s (code %s); this server searches by "
                    "an index of its own until it is started anew",
                    self._doubt,
                    error.code,
                )
                return False

    async def _searched_spaces(self) -> Sequence[EmbeddingSpace]:
        """Return whose vectors answer and whose are being made."""
        found = await self._spaces.look()
        return [
            EmbeddingSpace(model=one.model, dimension=one.dimension)
            for one in (found.active, found.target)
            if one is not None
        ]

    def _heard(self, collection: str, ids: Sequence[str]) -> None:
        if self._uses_atlas:
            self._atlas.listen(collection, ids)


class _OnDemand(SearchIndex):
    """A mirror that is opened by whoever asks it first."""

    def __init__(self, database: MongoDatabase, mirror: MirroredIndex) -> None:
        self._database = database
        self._mirror = mirror
        self._opening = asyncio.Lock()
        self.is_open = False

    async def opened(self) -> MirroredIndex:
        """Return the mirror, open; a closed store opens none."""
        self._database.check_open()
        async with self._opening:
            if not self.is_open:
                await self._mirror.open()
                self.is_open = True
        return self._mirror

    async def close(self) -> None:
        """Close the mirror, also one that was not opened to its end."""
        self.is_open = False
        await self._mirror.close()

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        return await (await self.opened()).text(selection, terms)

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        return await (await self.opened()).vector(selection, vector, space)

    async def describe(self) -> Mapping[str, Any]:
        return await (await self.opened()).describe()
