"""Finding chunks by words, by meaning, or both."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_server.domain.block import each_once
from memory_server.domain.chunk import Chunk, RetrievalMode, Source
from memory_server.domain.embedding import Purpose, Vector
from memory_server.domain.exchange import BOTH
from memory_server.domain.expansion import WEIGHT, Expansion, answered, phrases
from memory_server.domain.filters import Filter
from memory_server.domain.later_words import Told, later_word_first
from memory_server.domain.memory import Memory
from memory_server.domain.ranking import (
    Legs,
    Ranked,
    asks_for_present,
    coverage,
    fuse,
    prefer_recent,
)
from memory_server.domain.reading import chunk_of_memory, chunk_of_turn
from memory_server.domain.relevance import (
    CANDIDATES,
    LATEST_OF,
    asks_how_things_are,
    by_evidence,
    later_first,
)
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.domain.utterance import Utterance
from memory_server.domain.words import query_terms
from memory_server.errors import ProviderError
from memory_server.ports.embedder import Embedder
from memory_server.ports.search import Hit, Selection
from memory_server.ports.store import Store
from memory_server.services.glossary import Glossary
from memory_server.services.stages import stage

logger = logging.getLogger(__name__)

DEPTH = 500
"""How many finds each leg returns at the least. Fusion takes what a leg does not return for worth
nothing in it; a leg cut at 60 of 600 turns made the two legs find less than words alone."""


SAID = {Source.STM: 1, Source.BLOCK: len(BOTH)}
"""Sources that hold what was said, word for word: their finds are weighed as utterances. How many
finds may be the same words, of which one is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search in one source."""

    scope: Scope
    source: Source
    custom_type: str | None = None
    """Of the source `custom`: whose records."""
    query: str
    top_k: int
    mode: RetrievalMode = RetrievalMode.HYBRID
    filter: Filter | None = None
    as_of: datetime | None = None
    threshold: float = 0.0
    """The lowest score that is returned."""

    @property
    def selection(self) -> Selection:
        """What may be found: the one place where a search becomes a predicate, for all legs."""
        return Selection(
            scope=self.scope,
            source=self.source,
            custom_type=self.custom_type,
            filter=self.filter,
            as_of=self.as_of,
            limit=max(self.top_k, DEPTH) * (len(BOTH) if self.source is Source.BLOCK else 1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one search brought. `effective_mode` differs from the asked one when a leg failed."""

    chunks: Sequence[Chunk]
    effective_mode: RetrievalMode
    selection: Selection
    """What every leg was limited to."""
    degraded: str | None = None
    """Why a leg of a hybrid search is missing; None when none is."""


@dataclass(slots=True)
class Question:
    """A query and its vector, embedded once for all sources of a request."""

    text: str
    embedder: Embedder
    _vector: "asyncio.Task[Vector | None] | None" = field(default=None)

    async def vector(self) -> Vector | None:
        """Return the query's vector, None for a blank query; raises a `ProviderError`."""
        if self._vector is None:
            self._vector = asyncio.create_task(self._embed())
        return await asyncio.shield(self._vector)

    async def _embed(self) -> Vector | None:
        if not self.text.strip():
            return None
        with stage("query_embedding"):
            embedded = await self.embedder.embed([self.text], purpose=Purpose.QUERY)
        return embedded.vectors[0]


class Retrieval:
    """Searches one source with the legs of a mode, and fuses what they find."""

    def __init__(self, *, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._glossary = Glossary(store)

    def question(self, text: str) -> Question:
        """Return a question that several searches of one request share."""
        return Question(text, self._embedder)

    async def search(self, request: SearchRequest, question: Question | None = None) -> Found:
        """Return the best chunks of one source, the best first.

        In hybrid mode a failing embedding provider leaves the words: the answer says so. In
        semantic mode its `ProviderError` is raised.
        """
        question = question or self.question(request.query)
        terms = query_terms(request.query) if request.mode is not RetrievalMode.SEMANTIC else []
        selection = request.selection
        words, meaning = await asyncio.gather(
            self._words(request, terms), self._meaning(selection, request.mode, question)
        )
        legs = Legs(
            text=words.scores if request.mode is not RetrievalMode.SEMANTIC else None,
            vector=_scores(meaning.hits) if meaning.hits is not None else None,
            covered=await self._coverage(request, words, terms),
            space=self._embedder.space,
        )
        with stage("load"):
            chunks = await self._best(request, legs)
        return Found(
            chunks=chunks,
            effective_mode=meaning.effective_mode,
            selection=selection,
            degraded=meaning.degraded,
        )

    async def _words(self, request: SearchRequest, terms: Sequence[str]) -> "_Words":
        """Search by the question's words, and by what else the glossary calls them."""
        if not terms:
            return _Words({})
        selection = request.selection
        with stage("text_search"):
            hits, expansions = await asyncio.gather(
                self._store.search.text(selection, terms),
                self._glossary.expansions(selection, request.query, terms),
            )
        scores = _scores(hits)
        for hit in await self._by_other_names(selection, expansions):
            scores[hit.id] = scores.get(hit.id, 0.0) + WEIGHT * hit.score
        return _Words(scores, expansions)

    async def _by_other_names(
        self, selection: Selection, expansions: Sequence[Expansion]
    ) -> Sequence[Hit]:
        names = phrases(expansions)
        return await self._store.search.text(selection, names) if names else []

    async def _meaning(
        self, selection: Selection, mode: RetrievalMode, question: Question
    ) -> "_Meaning":
        if mode is RetrievalMode.TEXT:
            return _Meaning(None, mode)
        try:
            vector = await question.vector()
        except ProviderError as error:
            if mode is RetrievalMode.SEMANTIC:
                raise
            logger.warning("a hybrid search runs on words alone: %s", error.code)
            return _Meaning(None, RetrievalMode.TEXT, degraded=str(error))
        if vector is None:
            return _Meaning([], mode)
        with stage("vector_search"):
            hits = await self._store.search.vector(selection, vector, self._embedder.space)
        return _Meaning(hits, mode)

    async def _coverage(
        self, request: SearchRequest, words: "_Words", terms: Sequence[str]
    ) -> float:
        """Return how much of the query the best find by words covers."""
        if not words.scores:
            return 0.0
        best = max(words.scores, key=words.scores.__getitem__)
        documents = await self._documents(request, [best])
        return max(
            (
                coverage(terms, answered(terms, content, words.expansions))
                for content in documents.values()
            ),
            default=0.0,
        )

    async def _documents(self, request: SearchRequest, ids: Sequence[str]) -> Mapping[str, str]:
        """Return what search matched in these documents, by id."""
        if request.source is Source.STM:
            turns = await self._store.turns.get_many(request.scope.project_id, ids)
            return {turn.id: f"{turn.speaker}: {turn.content}" for turn in turns}
        memories = await self._store.memories.get_many(request.scope, ids)
        return {memory.id: memory.body.index_text for memory in memories}

    async def _best(self, request: SearchRequest, legs: Legs) -> Sequence[Chunk]:
        """Read the best finds from the store, and return those that are wanted, the best first."""
        ranked, stored = await self._weighed(request, legs)
        if request.source is Source.BLOCK:
            ranked = each_once(ranked, (find.id for find in ranked))
        wanted = [one for one in ranked if one.score >= request.threshold]
        known: Mapping[str, _Stored] = stored
        chunks: list[Chunk] = []
        # The next take the place of those that are gone since the index heard of them.
        while wanted and (missing := request.top_k - len(chunks)) > 0:
            best, wanted = wanted[:missing], wanted[missing:]
            unread = [find.id for find in best if find.id not in known]
            known = {**known, **await self._stored(request, unread)}
            chunks += [_chunk(known[find.id], find.score) for find in best if find.id in known]
        return prefer_recent(chunks) if asks_for_present(request.query) else chunks

    async def _weighed(
        self, request: SearchRequest, legs: Legs
    ) -> tuple[Sequence[Ranked], Mapping[str, Memory]]:
        """Return the finds in order, and what was read of them to put them so."""
        ranked = fuse(legs)
        if not legs.are_both:
            return ranked, {}
        if request.source in SAID:
            reach = max(request.top_k * SAID[request.source], CANDIDATES)
            said = await self._said(request, [find.id for find in ranked[:reach]])
            return by_evidence(request.query, said, legs), {}
        if not asks_how_things_are(request.query):
            return ranked, {}
        first, rest = ranked[:LATEST_OF], ranked[LATEST_OF:]
        stored = await self._memories(request, [find.id for find in first])
        first = [find for find in first if find.id in stored]
        told = {
            one: Told(text=memory.body.chunk_text, said_at=memory.valid_from)
            for one, memory in stored.items()
        }
        weighed = later_first(first, rest, {one: at.said_at for one, at in told.items()})
        first, rest = weighed[: len(first)], weighed[len(first) :]
        return [*later_word_first(request.query, first, told), *rest], stored

    async def _said(self, request: SearchRequest, ids: Sequence[str]) -> Sequence[Utterance]:
        if request.source is Source.STM:
            return await self._store.turns.utterances(request.scope.project_id, ids)
        return await self._store.memories.utterances(request.scope, ids)

    async def _stored(self, request: SearchRequest, ids: Sequence[str]) -> "Mapping[str, _Stored]":
        """Return what the store holds of these finds now, by id."""
        if request.source is not Source.STM or not ids:
            return await self._memories(request, ids)
        turns = await self._store.turns.get_many(request.scope.project_id, ids)
        return {turn.id: turn for turn in turns}

    async def _memories(self, request: SearchRequest, ids: Sequence[str]) -> Mapping[str, Memory]:
        if not ids:
            return {}
        memories = await self._store.memories.get_many(request.scope, ids)
        return {memory.id: memory for memory in memories if request.selection.holds(memory)}


_Stored = Turn | Memory


@dataclass(frozen=True, slots=True)
class _Words:
    """What the leg of words found, and by which other names too."""

    scores: Mapping[str, float]
    expansions: Sequence[Expansion] = ()


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What the vector leg found; None when it was not asked or failed."""

    hits: Sequence[Hit] | None
    effective_mode: RetrievalMode
    degraded: str | None = None


def _scores(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}


def _chunk(stored: _Stored, score: float) -> Chunk:
    if isinstance(stored, Turn):
        return chunk_of_turn(stored, score)
    return chunk_of_memory(stored, score)
