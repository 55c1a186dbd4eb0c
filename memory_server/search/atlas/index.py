"""Searching by Atlas Search: words by Lucene's BM25, vectors exactly or by the graph."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.scope import Visibility
from memory_server.domain.words import matching_terms
from memory_server.errors import WrongDimension
from memory_server.ports.clock import Clock
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.search.atlas import neighbours, pipelines
from memory_server.search.atlas.definitions import WORDS
from memory_server.search.atlas.deployment import Database, run
from memory_server.search.atlas.filters import Fields
from memory_server.search.atlas.indexes import AtlasIndexes
from memory_server.search.atlas.merging import is_settled, merged, ordered, scale, scaled
from memory_server.search.atlas.neighbours import NEARNESS, Nearness, Said
from memory_server.search.atlas.pipelines import Matcher, Pipeline
from memory_server.search.atlas.recent import Recent
from memory_server.search.local.scan import DECIMALS

EXACT_UP_TO = 10_000
"""Up to so many documents of the owner, all vectors are compared; above, the graph is walked."""

MARGIN = 20
"""Finds more than are asked for, to see where ties end."""
SLACK = 100
"""Documents of an owner that an index which lags may hold more than there are."""
GROWTH = 4
"""How many times as many the next round asks for."""

LARGE_FOR = timedelta(minutes=10)
"""How long an owner who had many documents is taken to have many."""
MOST_LARGE = 10_000
"""How many such owners are remembered."""


class AtlasIndex(SearchIndex):
    """Asks Atlas, and merges in what this server wrote lately.

    Where an index of Atlas is missing or is still being built, `instead` is asked.
    """

    def __init__(
        self,
        database: Database,
        collections: Mapping[Source, str],
        indexes: AtlasIndexes,
        *,
        identity: Callable[[str, str], Any],
        match: Matcher,
        recent: Recent,
        instead: SearchIndex,
        clock: Clock,
    ) -> None:
        """Prepare it; `identity` makes the `_id` of what has that id in that project."""
        self._database = database
        self._collections = collections
        self._indexes = indexes
        self._identity = identity
        self._match = match
        self._recent = recent
        self._instead = instead
        self._large = _Large(clock)

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        words = [term for term in terms if any(character.isalnum() for character in term)]
        if not words or not _may_find(selection):
            return []
        self._indexes.need_keys(selection.filter)
        fields = self._indexes.words(selection.source)
        if fields is None:
            return await self._instead.text(selection, terms)
        recent, hidden = await self._words_of_recent(selection, terms)
        deeper = replace(selection, limit=selection.limit + len(hidden))
        found = await self._words(deeper, words, fields)
        kept = [hit for hit in found if hit.id not in hidden]
        covered = await self._covered(selection, words, kept[:1], recent[:1])
        recent = scaled(recent, scale(found, recent, covered=covered))
        return merged(found, recent, hidden=hidden, limit=selection.limit)

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        query: Vector = np.ascontiguousarray(vector, np.float32)
        if query.shape != (space.dimension,):
            raise WrongDimension(
                f"{space.model}: the query has shape {query.shape}, not ({space.dimension},)"
            )
        if not _may_find(selection):
            return []
        self._indexes.need_space(space)
        self._indexes.need_keys(selection.filter)
        fields = self._indexes.vectors(selection.source, space)
        if fields is None:
            return await self._instead.vector(selection, vector, space)
        await self._recent.catch_up()
        hidden = frozenset(self._hidden(selection))
        recent = await self._recent.index.vector(selection, query, space) if hidden else []
        recent = await self._still_found(selection, recent)
        deeper = replace(selection, limit=selection.limit + len(hidden))
        found = await self._nearest(deeper, query, space, fields)
        return merged(found, recent, hidden=hidden, limit=selection.limit)

    async def describe(self) -> Mapping[str, Any]:
        held = await self._recent.index.describe()
        return {
            "kind": "atlas_search",
            "vector_memory_bytes": held["vector_memory_bytes"],
            "vector_memory_limit_bytes": held["vector_memory_limit_bytes"],
            "recent_documents": held.get("documents", 0),
            "indexes": self._indexes.describe(),
        }

    async def _words_of_recent(
        self, selection: Selection, terms: Sequence[str]
    ) -> tuple[Sequence[Hit], frozenset[str]]:
        """Return what was written lately: first this is asked, and only then the index.

        What leaves in between, the index knows already.
        """
        await self._recent.catch_up()
        hidden = frozenset(self._hidden(selection))
        hits = await self._recent.index.text(selection, terms) if hidden else []
        return await self._still_found(selection, hits), hidden

    async def _still_found(self, selection: Selection, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return those that no other server has hidden or removed since they were written here."""
        if not hits:
            return hits
        project_id = selection.scope.project_id
        among = {"_id": {"$in": [self._identity(project_id, hit.id) for hit in hits]}}
        wanted = {"$and": [pipelines.condition(selection, self._match), among]}
        with self._database.translated():
            rows = self._database[self._collection(selection)].find(wanted, {"id": 1})
            found = {row["id"] async for row in rows}
        return [hit for hit in hits if hit.id in found]

    def _hidden(self, selection: Selection) -> Sequence[str]:
        return list(self._recent.ids(selection.source, selection.scope.project_id))

    async def _words(
        self, selection: Selection, words: Sequence[str], fields: Fields
    ) -> Sequence[Hit]:
        rows = await self._asked(selection, self._text_pipeline(selection, words, fields))
        nearness = NEARNESS.get(selection.source)
        if nearness is None:
            return ordered([Hit(row["id"], float(row["score"])) for row in rows])
        found = [Said.of(row) for row in rows]
        speaking = await self._speaking(selection, words, fields, found)
        near = await self._near(selection, speaking, nearness)
        return neighbours.heard(found, speaking, near, nearness)[: selection.limit]

    async def _speaking(
        self, selection: Selection, words: Sequence[str], fields: Fields, found: Sequence[Said]
    ) -> Sequence[Said]:
        """Return the turns of the scope whose words match, whatever else is asked."""
        wide = replace(
            selection,
            scope=replace(selection.scope, agent_id=None),
            filter=None,
            limit=neighbours.SPREAD,
        )
        if (wide.scope, wide.filter) == (selection.scope, selection.filter):
            return found
        rows = await self._asked(wide, self._text_pipeline(wide, words, fields))
        return [Said.of(row) for row in rows]

    async def _near(
        self, selection: Selection, speaking: Sequence[Said], nearness: Nearness
    ) -> Sequence[Said]:
        around = neighbours.around(speaking, nearness)
        if around is None:
            return []
        wanted = {"$and": [pipelines.condition(selection, self._match), around]}
        fields = {"_id": 0, "id": 1, "session_id": 1, "user_id": 1, "viewpoint": 1}
        fields |= {nearness.field: 1}
        with self._database.translated():
            rows = await self._database[self._collection(selection)].find(wanted, fields).to_list()
        return [Said.of(row) for row in rows]

    def _text_pipeline(
        self, selection: Selection, words: Sequence[str], fields: Fields
    ) -> Pipeline:
        return pipelines.text_pipeline(selection, words, fields=fields, match=self._match)

    async def _covered(
        self, selection: Selection, words: Sequence[str], one: Sequence[Hit], other: Sequence[Hit]
    ) -> float:
        """Return how many of the words `other` holds, by how many `one` does."""
        if not one or not other:
            return 1.0
        project_id = selection.scope.project_id
        ids = [hit.id for hit in (*one, *other)]
        wanted = {"_id": {"$in": [self._identity(project_id, one) for one in ids]}}
        with self._database.translated():
            rows = self._database[self._collection(selection)].find(wanted, {"id": 1, WORDS: 1})
            texts = {row["id"]: row[WORDS] async for row in rows}
        held = [len(matching_terms(words, texts.get(one, ""))) for one in ids]
        return max(1, held[1]) / max(1, held[0])

    async def _nearest(
        self, selection: Selection, query: Vector, space: EmbeddingSpace, fields: Fields
    ) -> Sequence[Hit]:
        """Ask for more and more, until the best are told, or there are no more."""
        count = await self._count(selection)
        exact = count <= EXACT_UP_TO
        ceiling = min(pipelines.MOST, count + SLACK) if exact else pipelines.MOST
        asked = min(ceiling, selection.limit + MARGIN)
        while True:
            pipeline = pipelines.vector_pipeline(
                selection,
                query,
                space,
                fields=fields,
                match=self._match,
                asked=asked,
                exact=exact,
            )
            rows = await self._asked(selection, pipeline)
            hits = ordered([Hit(row["id"], _cosine(row["score"])) for row in rows])
            if asked >= ceiling or is_settled([hit.score for hit in hits], selection.limit):
                return hits[: selection.limit]
            asked = min(ceiling, asked * GROWTH)

    async def _count(self, selection: Selection) -> int:
        """Return how many documents the owner has, `EXACT_UP_TO` + 1 for more than that."""
        owner = (self._collection(selection), *pipelines.owned(selection).items())
        if self._large.holds(owner):
            return EXACT_UP_TO + 1
        with self._database.translated():
            count = await self._database[self._collection(selection)].count_documents(
                pipelines.owned(selection), limit=EXACT_UP_TO + 1
            )
        if count > EXACT_UP_TO:
            self._large.add(owner)
        return count

    async def _asked(self, selection: Selection, pipeline: Pipeline) -> list[dict[str, Any]]:
        with self._database.translated():
            return await run(self._database[self._collection(selection)], pipeline)

    def _collection(self, selection: Selection) -> str:
        return self._collections[selection.source]


class _Large:
    """The owners who have too many documents to compare all, as counted not long ago."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[Hashable, datetime] = {}

    def holds(self, owner: Hashable) -> bool:
        """Return whether an owner need not be counted."""
        until = self._until.get(owner)
        return until is not None and self._clock.now() < until

    def add(self, owner: Hashable) -> None:
        """Remember an owner."""
        if len(self._until) >= MOST_LARGE:
            self._until.clear()
        self._until[owner] = self._clock.now() + LARGE_FOR


def _may_find(selection: Selection) -> bool:
    """Return whether anything can be found at all.

    Turns are private, each its user's own; a record is of a type.
    """
    if selection.source is Source.STM:
        is_seen = selection.scope.visibility in (None, Visibility.PRIVATE)
    else:
        is_seen = (selection.source is Source.CUSTOM) == (selection.custom_type is not None)
    return is_seen and selection.limit > 0


def _cosine(score: float) -> float:
    return round(pipelines.cosine(float(score)), DECIMALS)
