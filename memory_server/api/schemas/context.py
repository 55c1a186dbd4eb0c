"""Contexts on the wire."""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from memory_server.api.schemas.common import (
    ONLY_NUMBERS,
    Answer,
    Body,
    Flag,
    Id,
    JsonObject,
    Query,
    Whole,
)
from memory_server.api.schemas.search import ChunkDocument
from memory_server.domain.chunk import CONTEXT_SOURCES, RetrievalMode, Source, SourceOutcome
from memory_server.domain.formats import FormatStyle
from memory_server.domain.limits import MAX_SOURCE_TOP_K, MAX_TOP_K
from memory_server.domain.scope import Visibility
from memory_server.services.context import DEFAULT_SOURCES, ContextAnswer, SourceRequest


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _distinct(specs: tuple["SourceSpec", ...]) -> tuple["SourceSpec", ...]:
    if len({spec.source for spec in specs}) < len(specs):
        raise ValueError("each source may be listed once")
    return specs


Style = Annotated[FormatStyle, BeforeValidator(_lower)]


def _of_contexts(value: Any) -> Any:
    """Refuse what contexts are not built from: records have routes of their own."""
    if value not in CONTEXT_SOURCES:
        raise ValueError(f"Input should be one of {', '.join(CONTEXT_SOURCES)}")
    return value


ContextSource = Annotated[
    Source,
    BeforeValidator(_of_contexts),
    WithJsonSchema({"type": "string", "enum": [source.value for source in CONTEXT_SOURCES]}),
]


class _Wanted(Body):
    """What both ways of building a context have in common."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    query: Query
    user_id: Id | None = None
    session_id: Id | None = None
    visibility: Visibility | None = None
    max_tokens: Annotated[int, Field(ge=1), ONLY_NUMBERS] | None = None
    format_style: Style | None = None
    include_memories: Flag = False


class ContextBody(_Wanted):
    """What to build a context from. The filter is not checked; surprises come as warnings."""

    enabled_sources: tuple[ContextSource, ...] = DEFAULT_SOURCES
    top_k: Whole = Field(default=50, ge=1, le=MAX_TOP_K)
    metadata_filter: JsonObject | None = None


class SourceSpec(Body):
    """One source, and how it is searched."""

    source: ContextSource
    mode: RetrievalMode = RetrievalMode.SEMANTIC
    metadata_filter: JsonObject | None = None
    top_k: Whole = Field(default=20, ge=1, le=MAX_SOURCE_TOP_K)

    def request(self) -> SourceRequest:
        """Return the source as the service is asked for it."""
        return SourceRequest(
            source=self.source,
            mode=self.mode,
            top_k=self.top_k,
            metadata_filter=self.metadata_filter,
        )


class SourcesBody(_Wanted):
    """What to build a context from, source by source. Filters are checked."""

    sources: Annotated[tuple[SourceSpec, ...], Field(min_length=1), AfterValidator(_distinct)]
    rerank: Flag = False


class OutcomeDocument(Answer):
    """How one source fared."""

    source: Source
    requested_mode: RetrievalMode
    effective_mode: RetrievalMode
    count: int
    error: str | None
    retryable: bool

    @classmethod
    def of(cls, outcome: SourceOutcome) -> "OutcomeDocument":
        """Return an outcome as it travels."""
        return cls(
            source=outcome.source,
            requested_mode=outcome.requested_mode,
            effective_mode=outcome.effective_mode,
            count=outcome.count,
            error=outcome.error,
            retryable=outcome.retryable,
        )


class ContextMetadata(Answer):
    """What went into a context."""

    token_count: int
    """Estimated tokens of the formatted context."""
    memory_counts: dict[str, int]
    timing: dict[str, float]
    """Seconds by stage."""
    ranking_strategy: str | None
    source_outcomes: list[OutcomeDocument] | None
    warnings: list[str]
    dropped: list[str]
    """Ids of what was found but did not fit into `max_tokens`."""


class ContextDocument(Answer):
    """A context, ready for a prompt."""

    formatted_context: str | list[dict[str, Any]]
    metadata: ContextMetadata
    selected_memories: list[ChunkDocument] | None

    @classmethod
    def of(cls, answer: ContextAnswer, org_id: str, *, with_memories: bool) -> "ContextDocument":
        """Return a context as it travels."""
        formatted = answer.formatted
        selected = [ChunkDocument.of(chunk, org_id) for chunk in answer.selected]
        outcomes = answer.source_outcomes
        return cls(
            formatted_context=formatted if isinstance(formatted, str) else [*map(dict, formatted)],
            metadata=ContextMetadata(
                token_count=answer.token_count,
                memory_counts=dict(answer.memory_counts),
                timing=dict(answer.timing),
                ranking_strategy=answer.ranking_strategy,
                source_outcomes=None if outcomes is None else [*map(OutcomeDocument.of, outcomes)],
                warnings=list(answer.warnings),
                dropped=list(answer.dropped),
            ),
            selected_memories=selected if with_memories else None,
        )
