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
from memory_server.api.schemas.search import ChunkDocument, PredicateDocument
from memory_server.domain.chunk import CONTEXT_SOURCES, RetrievalMode, Source, SourceOutcome
from memory_server.domain.formats import FormatStyle
from memory_server.domain.limits import MAX_SOURCE_TOP_K, MAX_TOP_K
from memory_server.domain.scope import Visibility
from memory_server.domain.tokens import TOKENIZER
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
    """500 of them are reserved for what the caller puts around; the rest is filled with whole
    memories, the best first, passing over those that do not fit."""
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
    """Put the best finds of all sources in a better order: 40 with the built-in model, 100 with
    Voyage's. Without a reranker the order stays, and a warning says so."""


class OutcomeDocument(Answer):
    """How one source fared."""

    source: Source
    requested_mode: RetrievalMode
    effective_mode: RetrievalMode
    count: int
    error: str | None
    retryable: bool
    """Whether its index is being built. The built-in index never is: what is stored is found."""
    reranked: bool
    """Whether the reranker put finds of this source in order."""

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
            reranked=outcome.reranked,
        )


class ContextMetadata(Answer):
    """What went into a context."""

    token_count: int
    """Tokens of the formatted context, as the tokenizer named here counts them."""
    tokenizer: str
    """`estimate-1`: a rule over characters that rather counts too many; no model's vocabulary."""
    memory_counts: dict[str, int]
    timing: dict[str, float]
    """Seconds by stage."""
    ranking_strategy: str | None
    """`weighted_fusion`, or after a rerank `local_rerank` or `voyage_rerank`."""
    source_outcomes: list[OutcomeDocument] | None
    warnings: list[str]
    dropped: list[str]
    """Ids of what was found but did not fit into `max_tokens`."""
    predicates: list[PredicateDocument]
    """What each source was limited to, in every leg of its search."""


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
                tokenizer=TOKENIZER,
                memory_counts=dict(answer.memory_counts),
                timing=dict(answer.timing),
                ranking_strategy=answer.ranking_strategy,
                source_outcomes=None if outcomes is None else [*map(OutcomeDocument.of, outcomes)],
                warnings=list(answer.warnings),
                dropped=list(answer.dropped),
                predicates=[*map(PredicateDocument.of, answer.selections)],
            ),
            selected_memories=selected if with_memories else None,
        )
