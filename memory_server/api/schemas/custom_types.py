"""Records of declared memory types on the wire."""

from typing import Any, ClassVar

from pydantic import Field

from memory_server.api.schemas.common import Answer, Body, JsonObject, Query, Whole
from memory_server.domain.chunk import Chunk
from memory_server.domain.custom_type import TagValue
from memory_server.domain.limits import MAX_CUSTOM_TOP_K
from memory_server.domain.memory import Memory, Record


class RecordBody(Body):
    """A record. Whose it is, the caller's identity says, never the body."""

    content: str
    tags: JsonObject = Field(default_factory=dict)
    """Declared tags, each a text, a number, true or false; `{"a.b": 1}` and `{"a": {"b": 1}}` are
    the same."""
    contextual_metadata: JsonObject = Field(default_factory=dict)
    """Kept and given back as it is; never filtered on."""


class RecordQuery(Body):
    """A search among the records of one type."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    query: Query
    tags: JsonObject = Field(default_factory=dict)
    """Only records that have all these tags, each with that value."""
    top_k: Whole = Field(default=10, ge=1, le=MAX_CUSTOM_TOP_K)


class RecordSaved(Answer):
    """A saved record."""

    id: str
    type: str
    tags: dict[str, TagValue]
    """By dotted name."""
    has_embedding: bool

    @classmethod
    def of(cls, memory: Memory) -> "RecordSaved":
        """Return what a save answers."""
        body = memory.body
        assert isinstance(body, Record), "only records are saved here"
        return cls(
            id=memory.id,
            type=body.custom_type,
            tags=dict(body.tags),
            has_embedding=memory.has_embedding,
        )


class RecordDocument(Answer):
    """A record that was found."""

    id: str
    type: str
    content: str
    tags: dict[str, TagValue]
    contextual_metadata: dict[str, Any]
    user_id: str | None
    agent_id: str | None
    score: float | None
    """0 to 1, higher is better."""

    @classmethod
    def of(cls, chunk: Chunk) -> "RecordDocument":
        """Return a find as it travels."""
        return cls(
            id=chunk.id,
            type=chunk.metadata["custom_type"],
            content=chunk.content,
            tags=chunk.metadata["tags"],
            contextual_metadata=chunk.metadata.get("contextual_metadata", {}),
            user_id=chunk.metadata["user_id"],
            agent_id=chunk.metadata["agent_id"],
            score=chunk.score,
        )


class Records(Answer):
    """What was found, the best first."""

    results: list[RecordDocument]
    count: int
    degraded: str | None = None
    """Why the search ran on words alone; null when it ran as asked."""
