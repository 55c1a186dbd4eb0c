"""Building the context that an agent puts into its prompt."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_server.domain import surprises
from memory_server.domain.budget import pack
from memory_server.domain.chunk import Chunk, RetrievalMode, Source, SourceOutcome
from memory_server.domain.filters import Filter, matches
from memory_server.domain.formats import (
    FormatStyle,
    Formatted,
    cost,
    count_formatted,
    format_context,
)
from memory_server.domain.limits import MAX_TOP_K
from memory_server.domain.partitions import Partitions
from memory_server.domain.ranking import drop_near_duplicates, merge_sources
from memory_server.domain.reading import chunk_of_turn
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import (
    AllSourcesFailed,
    InvalidRequest,
    MemoryServerError,
    ProviderError,
    SourceNotIndexed,
    StorageError,
)
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from memory_server.services.reranking import Reordered, Reranking
from memory_server.services.search import Found, Question, Retrieval, SearchRequest

RANKING_STRATEGY = "weighted_fusion"
DEFAULT_MAX_TOKENS = 8_000
"""The budget when a request names none, its reserve included."""
COUNTED_TURNS = 100
"""How many turns that only short-term memory has are counted for a warning."""
LONG = 100_000
"""Characters of finds from which they are written in a thread, so that others are served meanwhile:
counting the tokens of a million takes about a fifth of a second."""
DEFAULT_SOURCES = (Source.EPISODIC, Source.SEMANTIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What to build a context from: whole sources, each searched with both legs."""

    scope: Scope
    query: str
    sources: Sequence[Source] = DEFAULT_SOURCES
    top_k: int = 50
    metadata_filter: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    style: FormatStyle | None = None
    as_of: datetime | None = None
    """What held then is searched, of long-term memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRequest:
    """One source of a context, as the caller wants it searched."""

    source: Source
    mode: RetrievalMode = RetrievalMode.SEMANTIC
    top_k: int = 20
    metadata_filter: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesRequest:
    """What to build a context from: sources, each with a mode and filter of its own."""

    scope: Scope
    query: str
    sources: Sequence[SourceRequest]
    rerank: bool = False
    max_tokens: int | None = None
    style: FormatStyle | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAnswer:
    """A context, and what went into it."""

    formatted: Formatted
    token_count: int
    memory_counts: Mapping[str, int]
    timing: Mapping[str, float]
    """Seconds by stage."""
    selected: Sequence[Chunk]
    dropped: Sequence[str]
    """Ids of chunks that were found but did not fit the budget."""
    selections: Sequence[Selection]
    """What each source was limited to, in every leg."""
    warnings: Sequence[str] = ()
    ranking_strategy: str | None = None
    source_outcomes: Sequence[SourceOutcome] | None = None


@dataclass(slots=True)
class _Watch:
    """Seconds by stage of one request."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What of a request the packing and writing of its finds needs."""

    max_tokens: int | None
    style: FormatStyle | None
    selections: Sequence[Selection]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What came of one source: finds and the reason of a missing leg, or an error."""

    spec: SourceRequest
    request: SearchRequest
    found: Found | None = None
    error: MemoryServerError | None = None

    @property
    def chunks(self) -> Sequence[Chunk]:
        return self.found.chunks if self.found else ()

    def outcome(self, reordered: Reordered) -> SourceOutcome:
        """Return how the source fared; a provider's outage is no index that is being built."""
        return SourceOutcome(
            source=self.spec.source,
            requested_mode=self.spec.mode,
            effective_mode=self.found.effective_mode if self.found else self.spec.mode,
            count=len(self.chunks),
            error=None if self.error is None else str(self.error),
            retryable=isinstance(self.error, SourceNotIndexed) and self.error.retryable,
            reranked=any(chunk.id in reordered.judged for chunk in self.chunks),
        )


class ContextBuilding:
    """Searches, merges, reranks where that is asked for, packs and formats."""

    def __init__(
        self,
        *,
        store: Store,
        retrieval: Retrieval,
        reranking: Reranking,
        partitions: Partitions,
        default_style: FormatStyle,
    ) -> None:
        self._store = store
        self._retrieval = retrieval
        self._reranking = reranking
        self._partitions = partitions
        self._default_style = default_style

    async def build(self, request: ContextRequest) -> ContextAnswer:
        """Build a context from whole sources; a filter that names no known path only warns.

        Recent turns are those of the scope's session; the session limits nothing else.
        """
        watch = _Watch()
        narrowing, warnings = self._partitions.lenient_filter(request.metadata_filter)
        question = self._retrieval.question(request.query)
        searches = [
            self._whole_source(request, source, narrowing)
            for source in request.sources
            if source is not Source.STM
        ]
        found = await asyncio.gather(
            *(self._retrieval.search(search, question) for search in searches)
        )
        turns, refused = await self._recent(request, narrowing)
        watch.lap("search")
        selections = [source.selection for source in found]
        if Source.STM in request.sources and request.scope.session_id is not None:
            selections.append(_of_turns(request, narrowing))
        warnings += [
            *surprises.of_sources(request.scope, request.sources),
            *surprises.of_scope(request.scope, request.sources),
            *surprises.of_degraded(source.degraded for source in found),
            *surprises.of_refused(0 if turns else refused),
            *surprises.of_waiting(await self._waiting(request.scope, request.sources)),
        ]
        chunks = _merged([turns, *(source.chunks for source in found)])[: request.top_k]
        wanted = _Wanted(
            max_tokens=request.max_tokens,
            style=request.style,
            selections=selections,
            warnings=warnings,
        )
        return await self._written(chunks, wanted, watch)

    async def build_from_sources(self, request: SourcesRequest) -> ContextAnswer:
        """Build a context from sources with modes of their own.

        A source that fails is an outcome; `AllSourcesFailed` when every one does. An
        undeclared filter path raises `UndeclaredPath` before anything is searched.
        """
        watch = _Watch()
        searches = [self._search_of(request, spec) for spec in request.sources]
        question = self._retrieval.question(request.query)
        results = await asyncio.gather(
            *(
                self._one_source(spec, search, question)
                for spec, search in zip(request.sources, searches, strict=True)
            )
        )
        watch.lap("search")
        _check_any(results)
        reordered = await self._ordered(request, results)
        if request.rerank:
            watch.lap("rerank")
        wanted = _Wanted(
            max_tokens=request.max_tokens,
            style=request.style,
            selections=[search.selection for search in searches],
            warnings=await self._warnings(request, results, reordered),
        )
        return replace(
            await self._written(reordered.chunks, wanted, watch),
            ranking_strategy=reordered.strategy or RANKING_STRATEGY,
            source_outcomes=[result.outcome(reordered) for result in results],
        )

    def _whole_source(
        self, request: ContextRequest, source: Source, narrowing: Filter | None
    ) -> SearchRequest:
        return SearchRequest(
            scope=replace(request.scope, session_id=None),
            source=source,
            query=request.query,
            top_k=request.top_k,
            filter=narrowing,
            as_of=request.as_of,
        )

    async def _recent(
        self, request: ContextRequest, narrowing: Filter | None
    ) -> tuple[Sequence[Chunk], int]:
        """Return the session's newest turns that pass the filter, and how many do not.

        The newest come first so that these fit the budget. With a filter, the last 1000 turns
        are looked at.
        """
        if Source.STM not in request.sources or request.scope.session_id is None:
            return [], 0
        limit = request.top_k if narrowing is None else MAX_TOP_K
        turns = await self._store.turns.recent(request.scope, limit=limit)
        passing = [turn for turn in reversed(turns) if _passes(turn, narrowing)]
        chunks = [chunk_of_turn(turn, None) for turn in passing[: request.top_k]]
        return chunks, len(turns) - len(passing)

    async def _waiting(self, scope: Scope, sources: Sequence[Source]) -> int:
        """Count the session's turns that only short-term memory has, if it is not asked."""
        if Source.STM in sources or scope.session_id is None:
            return 0
        recent = await self._store.turns.recent(scope, limit=COUNTED_TURNS)
        return sum(turn.snapshot_id is None for turn in recent)

    async def _warnings(
        self, request: SourcesRequest, results: Sequence[_Result], reordered: Reordered
    ) -> Sequence[str]:
        sources = [spec.source for spec in request.sources]
        warnings = [
            *surprises.of_scope(request.scope, sources),
            *surprises.of_query(request.query, [spec.mode for spec in request.sources]),
            *surprises.of_degraded(one.found.degraded for one in results if one.found),
        ]
        if reordered.failure is not None:
            warnings.append(f"rerank: {reordered.failure}; the order is that of the fusion")
        return warnings

    async def _ordered(self, request: SourcesRequest, results: Sequence[_Result]) -> Reordered:
        chunks = _merged([result.chunks for result in results])
        if not (request.rerank and chunks):
            return Reordered(chunks=chunks)
        return await self._reranking.order(request.query, chunks)

    def _search_of(self, request: SourcesRequest, spec: SourceRequest) -> SearchRequest:
        """Return the search of one source; the session limits turns and nothing else."""
        scope = request.scope
        if spec.source is not Source.STM:
            scope = replace(scope, session_id=None)
        elif scope.session_id is None:
            raise InvalidRequest("session_id: the source 'stm' is a session's; give its id")
        return SearchRequest(
            scope=scope,
            source=spec.source,
            query=request.query,
            top_k=spec.top_k,
            mode=spec.mode,
            filter=self._partitions.filter(spec.source, spec.mode, spec.metadata_filter),
        )

    async def _one_source(
        self, spec: SourceRequest, request: SearchRequest, question: Question
    ) -> _Result:
        """Search one source; its failure is told in its place."""
        try:
            self._check_indexed(spec)
            found = await self._retrieval.search(request, question)
        except (ProviderError, StorageError, SourceNotIndexed) as error:
            return _Result(spec=spec, request=request, error=error)
        return _Result(spec=spec, request=request, found=found)

    def _check_indexed(self, spec: SourceRequest) -> None:
        """Refuse turns that no one asked to have indexed for a mode; all else always is."""
        if spec.source is Source.STM and not self._partitions.covers(Source.STM, spec.mode):
            raise SourceNotIndexed(
                f"turns are not indexed for {spec.mode.value} search: add short_term to "
                "memory.metadata_partition_index and apply the configuration"
            )

    async def _written(
        self, chunks: Sequence[Chunk], wanted: _Wanted, watch: _Watch
    ) -> ContextAnswer:
        if sum(len(chunk.content) for chunk in chunks) < LONG:
            return self._answer(chunks, wanted, watch)
        return await asyncio.to_thread(self._answer, chunks, wanted, watch)

    def _answer(self, chunks: Sequence[Chunk], wanted: _Wanted, watch: _Watch) -> ContextAnswer:
        style = wanted.style or self._default_style
        max_tokens = DEFAULT_MAX_TOKENS if wanted.max_tokens is None else wanted.max_tokens
        costs = {(chunk.source, chunk.id): cost(chunk, style) for chunk in chunks}
        packed = pack(
            chunks, max_tokens=max_tokens, cost=lambda chunk: costs[chunk.source, chunk.id]
        )
        tight = surprises.of_budget(max_tokens, list(costs.values()), kept=len(packed.kept))
        formatted = format_context(packed.kept, style)
        token_count = count_formatted(formatted)
        watch.lap("format")
        return ContextAnswer(
            formatted=formatted,
            token_count=token_count,
            memory_counts=Counter(chunk.source.value for chunk in packed.kept),
            timing={**watch.seconds, "total": sum(watch.seconds.values())},
            selected=packed.kept,
            dropped=packed.dropped,
            selections=wanted.selections,
            warnings=(*wanted.warnings, *tight),
        )


def _passes(turn: Turn, narrowing: Filter | None) -> bool:
    agent = {} if turn.agent_id is None else {"agent_id": turn.agent_id}
    return narrowing is None or matches(narrowing, {"metadata": turn.metadata, **agent})


def _of_turns(request: ContextRequest, narrowing: Filter | None) -> Selection:
    return Selection(scope=request.scope, source=Source.STM, filter=narrowing, limit=request.top_k)


def _check_any(results: Sequence[_Result]) -> None:
    """Raise `AllSourcesFailed` unless some source answered."""
    if all(result.error for result in results):
        reasons = "; ".join(f"{one.spec.source.value}: {one.error}" for one in results)
        raise AllSourcesFailed(f"every source failed: {reasons}")


def _merged(sources: Sequence[Sequence[Chunk]]) -> list[Chunk]:
    return drop_near_duplicates(merge_sources(sources))
