"""Searches and the chunks they find, on the wire."""

from typing import Any, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from memory_server.api.schemas.common import (
    Answer,
    Body,
    Id,
    JsonObject,
    Moment,
    Number,
    Query,
    Whole,
)
from memory_server.domain.chunk import Chunk, RetrievalMode, Source
from memory_server.domain.filter_documents import filter_document
from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.domain.limits import MAX_TOP_K
from memory_server.domain.scope import Visibility
from memory_server.ports.search import Selection

SearchType = Literal["semantic", "episodic", "taxonomic", "procedural", "block"]


class TurnSearchBody(Body):
    """A search in the turns themselves."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    query: Query
    user_id: Id | None = None
    session_id: Id | None = None
    """Turns of that session only; else of every session."""
    top_k: Whole = Field(default=50, ge=1, le=MAX_TOP_K)
    similarity_threshold: Number = Field(default=0.0, allow_inf_nan=False)
    metadata_filter: JsonObject | None = None
    mode: RetrievalMode = RetrievalMode.HYBRID


class SearchBody(Body):
    """A search in one kind of long-term memory."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    query: Query
    user_id: Id | None = None
    visibility: Visibility | None = None
    session_id: Id | None = None
    """Episodes of that session only."""
    domain: str | None = None
    """Terms of that domain only."""
    tags: tuple[str, ...] = ()
    """Memories with any of these tags only."""
    top_k: Whole = Field(default=50, ge=1, le=MAX_TOP_K)
    similarity_threshold: Number = Field(default=0.0, allow_inf_nan=False)
    metadata_filter: JsonObject | None = None
    mode: RetrievalMode = RetrievalMode.HYBRID
    as_of: Moment | None = None
    """Search the memories that held at that moment."""

    def conditions(self, narrowing: Filter | None) -> Filter | None:
        """Return the filter that the body's own fields and its metadata filter make together."""
        parts = [] if narrowing is None else [narrowing]
        if self.domain is not None:
            parts.append(Comparison("domain", Operator.EQ, self.domain))
        if self.tags:
            parts.append(Comparison("tags", Operator.IN, self.tags))
        if len(parts) <= 1:
            return next(iter(parts), None)
        return Clauses(Connective.AND, tuple(parts))


class TypedSearchBody(SearchBody):
    """A search whose kind of memory is named in the body."""

    type: SearchType


def _is_absent(value: float | None) -> bool:
    return value is None


def _undefaulted(schema: dict[str, Any]) -> None:
    """Describe a field as one that may be absent: it is never sent as null."""
    del schema["default"]


class ChunkDocument(Answer):
    """One piece of memory. A field without a value is absent: clients refuse null there."""

    id: str
    content: str
    source: Source
    timestamp: str
    similarity_score: float | SkipJsonSchema[None] = Field(
        default=None, exclude_if=_is_absent, json_schema_extra=_undefaulted
    )
    """0 to 1, higher is better; comparable between searches of one mode. Absent where nothing was
    ranked."""
    metadata: dict[str, Any]
    """Fields of the memory; what its caller stored is under `metadata`, absent when empty."""

    @classmethod
    def of(cls, chunk: Chunk, org_id: str) -> "ChunkDocument":
        """Return a chunk as it travels."""
        timestamp = chunk.timestamp.isoformat()
        metadata = {"org_id": org_id, **chunk.metadata}
        if chunk.source is Source.PROCEDURAL:
            # Clients that list procedures show this mapping, and nothing that stands beside it.
            metadata |= {"id": chunk.id, "timestamp": timestamp}
        return cls(
            id=chunk.id,
            content=chunk.content,
            source=chunk.source,
            timestamp=timestamp,
            similarity_score=chunk.score,
            metadata=metadata,
        )


class PredicateDocument(Answer):
    """What a search was limited to: every find passes all of it, whichever leg found it."""

    source: Source
    scope: dict[str, str | None]
    """Fields and the values they had to have; null: to be empty. A field that is not here was
    not limited: without `user_id`, every user's."""
    filter: dict[str, Any] | None
    """The metadata filter and the request's own fields, as one filter; null: none."""
    as_of: str | None

    @classmethod
    def of(cls, selection: Selection) -> "PredicateDocument":
        """Return as it travels what the legs were given."""
        condition, moment = selection.filter, selection.as_of
        return cls(
            source=selection.source,
            scope=dict(selection.scope.conditions()),
            filter=None if condition is None else filter_document(condition),
            as_of=None if moment is None else moment.isoformat(),
        )


class SearchAnswer(Answer):
    """What was found, the best first."""

    memories: list[ChunkDocument]
    predicate: PredicateDocument
    warnings: list[str] = Field(default_factory=list)
    degraded: str | None = None
    """Why the search ran on words alone; null when it ran as asked."""
