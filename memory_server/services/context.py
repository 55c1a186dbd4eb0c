"""Building the context that an agent puts into its prompt."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory_server.domain.budget import pack
from memory_server.domain.chunk import Chunk, RetrievalMode, Source, SourceOutcome
from memory_server.domain.filters import Filter
from memory_server.domain.formats import (
    FormatStyle,
    Formatted,
    cost,
    count_formatted,
    format_context,
)
from memory_server.domain.partitions import Partitions
from memory_server.domain.ranking import drop_near_duplicates, merge_sources
from memory_server.domain.reading import chunk_of_turn
from memory_server.domain.scope import Scope
from memory_server.errors import (
    AllSourcesFailed,
    InvalidRequest,
    MemoryServerError,
    ProviderError,
    SourceNotIndexed,
    StorageError,
)
from memory_server.ports.store import Store
from memory_server.services.search import Found, Question, Retrieval, SearchRequest

RANKING_STRATEGY = "weighted_fusion"
DEFAULT_MAX_TOKENS = 8_000
"""The budget when a request names none, its reserve included."""
COUNTED_TURNS = 100
"""How many turns that only short-term memory has are counted for a warning."""
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


class ContextBuilding:
    """Searches, merges, packs and formats."""

    def __init__(
        self,
        *,
        store: Store,
        retrieval: Retrieval,
        partitions: Partitions,
        default_style: FormatStyle,
    ) -> None:
        self._store = store
        self._retrieval = retrieval
        self._partitions = partitions
        self._default_style = default_style

    async def build(self, request: ContextRequest) -> ContextAnswer:
        """Build a context from whole sources; a filter that names no known path only warns.

        Recent turns are those of the scope's session; the session limits nothing else.
        """
        watch = _Watch()
        narrowing, warnings = self._partitions.lenient_filter(request.metadata_filter)
        question = self._retrieval.question(request.query)
        long_term = [source for source in request.sources if source is not Source.STM]
        found = await asyncio.gather(
            *(self._whole_source(request, source, narrowing, question) for source in long_term)
        )
        turns = await self._recent(request) if Source.STM in request.sources else []
        watch.lap("search")
        warnings += await self._surprises(request)
        warnings += _words_only(source.degraded for source in found)
        chunks = _merged([turns, *(f.chunks for f in found)])[: request.top_k]
        return self._answer(chunks, request.max_tokens, request.style, watch, warnings)

    async def build_from_sources(self, request: SourcesRequest) -> ContextAnswer:
        """Build a context from sources with modes of their own.

        A source that fails is an outcome; `AllSourcesFailed` when every one does. An
        undeclared filter path raises `UndeclaredPath` before anything is searched.
        """
        watch = _Watch()
        filters = [
            self._partitions.filter(spec.source, spec.mode, spec.metadata_filter)
            for spec in request.sources
        ]
        question = self._retrieval.question(request.query)
        results = await asyncio.gather(
            *(
                self._one_source(request, spec, narrowing, question)
                for spec, narrowing in zip(request.sources, filters, strict=True)
            )
        )
        watch.lap("search")
        outcomes = [outcome for _, outcome, _ in results]
        if all(outcome.error for outcome in outcomes):
            reasons = "; ".join(f"{o.source.value}: {o.error}" for o in outcomes)
            raise AllSourcesFailed(f"every source failed: {reasons}")
        warnings = _words_only(degraded for _, _, degraded in results)
        if request.rerank:
            warnings.append("rerank: no reranker is configured; the order is that of the fusion")
        answer = self._answer(
            _merged([chunks for chunks, _, _ in results]),
            request.max_tokens,
            request.style,
            watch,
            warnings,
        )
        return replace(answer, ranking_strategy=RANKING_STRATEGY, source_outcomes=outcomes)

    async def _whole_source(
        self, request: ContextRequest, source: Source, narrowing: Filter | None, question: Question
    ) -> Found:
        scope = replace(request.scope, session_id=None)
        return await self._retrieval.search(
            SearchRequest(
                scope=scope,
                source=source,
                query=request.query,
                top_k=request.top_k,
                filter=narrowing,
            ),
            question,
        )

    async def _recent(self, request: ContextRequest) -> Sequence[Chunk]:
        """Return the session's newest turns, the newest first so that these fit the budget."""
        if request.scope.session_id is None:
            return []
        turns = await self._store.turns.recent(request.scope, limit=request.top_k)
        return [chunk_of_turn(turn, None) for turn in reversed(turns)]

    async def _surprises(self, request: ContextRequest) -> list[str]:
        """Return warnings for requests that mean something else than they seem to."""
        scope = request.scope
        warnings = []
        if scope.user_id is not None and scope.visibility is not None:
            warnings.append(
                f"user_id and visibility={scope.visibility.value} together mean this user's "
                f"{scope.visibility.value} memories only; leave user_id out for everybody's"
            )
        if Source.STM not in request.sources and scope.session_id is not None:
            recent = await self._store.turns.recent(scope, limit=COUNTED_TURNS)
            waiting = sum(turn.snapshot_id is None for turn in recent)
            if waiting:
                warnings.append(
                    f"{waiting} recent turns of this session are in short-term memory only; add "
                    "'stm' to enabled_sources to have them in the context"
                )
        return warnings

    async def _one_source(
        self,
        request: SourcesRequest,
        spec: SourceRequest,
        narrowing: Filter | None,
        question: Question,
    ) -> tuple[Sequence[Chunk], SourceOutcome, str | None]:
        """Search one source; its failure becomes its outcome, a missing leg is told beside it."""
        scope = request.scope
        try:
            if spec.source is Source.STM:
                self._check_turns_are_indexed(request, spec)
            else:
                scope = replace(scope, session_id=None)
            found = await self._retrieval.search(
                SearchRequest(
                    scope=scope,
                    source=spec.source,
                    query=request.query,
                    top_k=spec.top_k,
                    mode=spec.mode,
                    filter=narrowing,
                ),
                question,
            )
        except (ProviderError, StorageError, SourceNotIndexed) as error:
            return [], _failed(spec, error), None
        outcome = SourceOutcome(
            source=spec.source,
            requested_mode=spec.mode,
            effective_mode=found.effective_mode,
            count=len(found.chunks),
        )
        return found.chunks, outcome, found.degraded

    def _check_turns_are_indexed(self, request: SourcesRequest, spec: SourceRequest) -> None:
        if request.scope.session_id is None:
            raise InvalidRequest("session_id: the source 'stm' is a session's; give its id")
        if not self._partitions.covers(Source.STM, spec.mode):
            raise SourceNotIndexed(
                f"turns are not indexed for {spec.mode.value} search: add short_term to "
                "memory.metadata_partition_index and apply the configuration"
            )

    def _answer(
        self,
        chunks: Sequence[Chunk],
        max_tokens: int | None,
        style: FormatStyle | None,
        watch: _Watch,
        warnings: Sequence[str],
    ) -> ContextAnswer:
        chosen = style or self._default_style
        packed = pack(
            chunks,
            max_tokens=max_tokens if max_tokens is not None else DEFAULT_MAX_TOKENS,
            cost=lambda chunk: cost(chunk, chosen),
        )
        formatted = format_context(packed.kept, chosen)
        counts: dict[str, int] = {}
        for chunk in packed.kept:
            counts[chunk.source.value] = counts.get(chunk.source.value, 0) + 1
        token_count = count_formatted(formatted)
        watch.lap("format")
        return ContextAnswer(
            formatted=formatted,
            token_count=token_count,
            memory_counts=counts,
            timing={**watch.seconds, "total": sum(watch.seconds.values())},
            selected=packed.kept,
            dropped=packed.dropped,
            warnings=tuple(warnings),
        )


def _failed(spec: SourceRequest, error: MemoryServerError) -> SourceOutcome:
    return SourceOutcome(
        source=spec.source,
        requested_mode=spec.mode,
        effective_mode=spec.mode,
        count=0,
        error=str(error),
        retryable=error.retryable,
    )


def _words_only(degraded: Iterable[str | None]) -> list[str]:
    return sorted({f"words only: {reason}" for reason in degraded if reason})


def _merged(sources: Sequence[Sequence[Chunk]]) -> list[Chunk]:
    return drop_near_duplicates(merge_sources(sources))
