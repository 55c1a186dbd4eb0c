"""Exchange blocks on the wire."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from memory_server.api.schemas.common import (
    Answer,
    Body,
    Flag,
    Id,
    JsonObject,
    Moment,
    Number,
    Query,
    Whole,
)
from memory_server.api.schemas.search import PredicateDocument
from memory_server.domain.block import Message
from memory_server.domain.chunk import Chunk, RetrievalMode
from memory_server.domain.exchange import BOTH, Viewpoint
from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.domain.limits import MAX_MESSAGES, MAX_TOP_K
from memory_server.domain.memory import Block, Memory
from memory_server.domain.reading import chunk_of_memory
from memory_server.domain.turn import Role
from memory_server.services.block_drafts import Conversation
from memory_server.services.blocks import RecordedBlocks
from memory_server.services.search import Found

Extraction = Literal["none", "pending", "done", "failed"]
Timing = dict[str, float]
"""Milliseconds by stage."""


class MessageBody(Body):
    """One thing that was said."""

    role: Literal["user", "assistant"]
    content: str
    id: Id | None = None
    """The caller's own, unique in the request; without one, the server makes one."""
    metadata: JsonObject = Field(default_factory=dict)
    """`speaker` names who spoke; `date` or `timestamp` says when."""


class BlocksBody(Body):
    """Messages of one conversation, in order, to be kept as exchange blocks."""

    conversation_id: Id = ""
    user_id: Id | None = None
    agent_id: Id | None = None
    messages: Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=MAX_MESSAGES)]
    """Paired here: what the user said on end, and all replies to it, are one exchange."""
    viewpoints: tuple[Viewpoint, ...] = BOTH
    """A block for each; or `sequential` alone: one block for the exchange as it went."""
    metadata: JsonObject = Field(default_factory=dict)
    """Of every exchange, under what its first message says itself."""
    annotations: JsonObject = Field(default_factory=dict)
    """Kept in every block, beside the server's `time` and `conversation_id`."""
    context_required: Flag = False
    """Have summary and contexts made, in the background."""
    sync: Flag = False
    """Wait for them, up to 25 seconds."""
    idempotency_key: Id | None = None
    """The same key again, of the same user in the same conversation, returns the stored blocks and
    writes nothing."""

    def conversation(self) -> Conversation:
        """Return what is to be recorded."""
        return Conversation(
            conversation_id=self.conversation_id,
            messages=[
                Message(
                    id=said.id,
                    role=Role(said.role),
                    content=said.content,
                    metadata=said.metadata,
                )
                for said in self.messages
            ],
            viewpoints=self.viewpoints,
            metadata=self.metadata,
            annotations=self.annotations,
            context_required=self.context_required,
            sync=self.sync,
            idempotency_key=self.idempotency_key,
        )


class SaidDocument(Answer):
    """One message of an exchange."""

    id: str
    role: Literal["user", "assistant"]
    speaker: str
    content: str
    position: int
    """In the exchange, from 1."""


class _Block(Answer):
    """What a block is, stored or found."""

    id: str
    exchange_id: str
    viewpoint: Viewpoint
    speaker: str
    """Whom the block is bound to."""
    conversation_id: str
    position: int
    """The exchange's number in the conversation, from 1."""
    message: str
    """What was said, each time with who said it."""
    messages: list[SaidDocument]
    summary: str
    contexts: list[str]
    """Facts in what the speaker said."""
    annotations: dict[str, Any]
    """`time` in words, if it is known, `conversation_id`, and the caller's own."""
    metadata: dict[str, Any]
    user_id: str | None
    agent_id: str | None


class BlockDocument(_Block):
    """A block as it is stored."""

    extraction: Literal["none", "pending", "done"]
    """Whether summary and contexts are wanted, and made."""
    event_time: str | None
    """When it was said, if that is known."""
    created_at: str
    has_embedding: bool

    @classmethod
    def of(cls, memory: Memory) -> "BlockDocument":
        """Return a block as it travels."""
        block = memory.body
        assert isinstance(block, Block), "only blocks are kept here"
        return cls(
            id=memory.id,
            **_told(chunk_of_memory(memory, None).metadata),
            message=block.message,
            metadata=dict(memory.metadata),
            user_id=memory.user_id,
            agent_id=memory.agent_id,
            extraction=_extraction(block),
            event_time=memory.event_time.start.isoformat() if memory.event_time else None,
            created_at=memory.created_at.isoformat(),
            has_embedding=memory.has_embedding,
        )


class Blocks(Answer):
    """Blocks, the newest first."""

    blocks: list[BlockDocument]
    count: int


class ExchangeDocument(Answer):
    """A stored exchange."""

    exchange_id: str
    conversation_id: str
    position: int
    message_ids: list[str]
    blocks: list[BlockDocument]


class BlocksReceipt(Answer):
    """What was stored."""

    exchanges: list[ExchangeDocument]
    count: int
    """How many exchanges."""
    duplicate: bool
    """Whether they were stored before under the same idempotency key, so that nothing was
    written."""
    extraction: Extraction
    """Of summary and contexts: `none` are wanted, `pending`, `done`, or `failed` for now."""
    timing: Timing

    @classmethod
    def of(
        cls, recorded: RecordedBlocks, *, failed: bool, timing: Mapping[str, float]
    ) -> "BlocksReceipt":
        """Return the receipt of stored blocks."""
        blocks = [BlockDocument.of(memory) for memory in recorded.blocks]
        exchanges = [
            _exchange(list(of_exchange))
            for _, of_exchange in groupby(blocks, key=lambda block: block.exchange_id)
        ]
        return cls(
            exchanges=exchanges,
            count=len(exchanges),
            duplicate=recorded.is_duplicate,
            extraction="failed" if failed else _of_all(block.extraction for block in blocks),
            timing=dict(timing),
        )


class BlockSearch(Body):
    """A search among exchange blocks."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    query: Query
    user_id: Id | None = None
    conversation_id: Id | None = None
    """In that conversation only."""
    viewpoint: Viewpoint | None = None
    """Blocks of that viewpoint only; without one, each exchange is found once."""
    speaker: str | None = None
    """Blocks bound to that speaker only."""
    top_k: Whole = Field(default=50, ge=1, le=MAX_TOP_K)
    similarity_threshold: Number = Field(default=0.0, allow_inf_nan=False)
    metadata_filter: JsonObject | None = None
    mode: RetrievalMode = RetrievalMode.HYBRID
    as_of: Moment | None = None
    """Search what had been said by then."""

    def conditions(self, narrowing: Filter | None) -> Filter | None:
        """Return the filter that the body's own fields and its metadata filter make together."""
        parts = [] if narrowing is None else [narrowing]
        if self.viewpoint is not None:
            parts.append(Comparison("viewpoint", Operator.EQ, self.viewpoint.value))
        if self.speaker is not None:
            parts.append(Comparison("speaker", Operator.EQ, self.speaker))
        return Clauses(Connective.AND, tuple(parts)) if parts else None


class FoundBlock(_Block):
    """A block that was found."""

    timestamp: str
    """When it was said, else when it was recorded."""
    similarity_score: float | None
    """0 to 1, higher is better."""

    @classmethod
    def of(cls, chunk: Chunk) -> "FoundBlock":
        """Return a find as it travels."""
        told = chunk.metadata
        return cls(
            id=chunk.id,
            **_told(told),
            message=chunk.content,
            metadata=told.get("metadata", {}),
            user_id=told["user_id"],
            agent_id=told["agent_id"],
            timestamp=chunk.timestamp.isoformat(),
            similarity_score=chunk.score,
        )


class FoundBlocks(Answer):
    """What was found, the best first."""

    blocks: list[FoundBlock]
    count: int
    predicate: PredicateDocument
    warnings: list[str]
    degraded: str | None
    """Why the search ran on words alone; null when it ran as asked."""
    timing: Timing

    @classmethod
    def of(
        cls, found: Found, *, warnings: Sequence[str], timing: Mapping[str, float]
    ) -> "FoundBlocks":
        """Return finds as they travel."""
        return cls(
            blocks=[FoundBlock.of(chunk) for chunk in found.chunks],
            count=len(found.chunks),
            predicate=PredicateDocument.of(found.selection),
            warnings=list(warnings),
            degraded=found.degraded,
            timing=dict(timing),
        )


_OWN = (
    "exchange_id",
    "viewpoint",
    "speaker",
    "conversation_id",
    "position",
    "messages",
    "summary",
    "contexts",
    "annotations",
)
"""Fields of a block that travel as they are."""


def _told(block: Mapping[str, Any]) -> dict[str, Any]:
    return {name: block[name] for name in _OWN}


def _extraction(block: Block) -> Literal["none", "pending", "done"]:
    if block.extractor is not None:
        return "done"
    return "pending" if block.context_required else "none"


def _of_all(states: Iterable[Extraction]) -> Extraction:
    found = set(states)
    if "pending" in found:
        return "pending"
    return "done" if "done" in found else "none"


def _exchange(blocks: Sequence[BlockDocument]) -> ExchangeDocument:
    first = blocks[0]
    return ExchangeDocument(
        exchange_id=first.exchange_id,
        conversation_id=first.conversation_id,
        position=first.position,
        message_ids=[said.id for said in first.messages],
        blocks=list(blocks),
    )
