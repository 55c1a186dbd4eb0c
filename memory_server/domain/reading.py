"""Memories and turns as the chunks that a search gives back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.exchange import Said
from memory_server.domain.memory import (
    Block,
    Episode,
    EventTime,
    Fact,
    Memory,
    Procedure,
    Record,
    Term,
)
from memory_server.domain.precision import took_place
from memory_server.domain.turn import Turn

_SHOWN: Mapping[type, tuple[str, ...]] = {
    Fact: ("label", "source"),
    Episode: ("title", "summary_text", "participants", "tags"),
    Term: ("domain", "term", "definition", "related_terms"),
    Procedure: ("procedure", "description", "tags", "trigger_conditions", "steps"),
    Record: ("custom_type", "tags"),
    Block: (
        "exchange_id",
        "viewpoint",
        "speaker",
        "conversation_id",
        "position",
        "messages",
        "summary",
        "contexts",
        "annotations",
    ),
}
_TURN_FIELDS = ("tool_calls", "tool_call_id", "tool_name", "model_name", "agent_id")


def chunk_of_memory(memory: Memory, score: float | None) -> Chunk:
    """Return a memory as a chunk; the caller's metadata stays in a slot of its own."""
    shown = {name: _plain(getattr(memory.body, name)) for name in _SHOWN[type(memory.body)]}
    metadata: dict[str, Any] = {
        **shown,
        "visibility": memory.visibility.value,
        "user_id": memory.user_id,
        "version": memory.version,
    }
    if isinstance(memory.body, Episode):
        metadata["session_id"] = memory.session_id
    if isinstance(memory.body, Record | Block):
        metadata["agent_id"] = memory.agent_id
    if memory.event_time is not None:
        metadata["event_time"] = event_time_document(memory.event_time)
    if memory.contextual_metadata:
        metadata["contextual_metadata"] = dict(memory.contextual_metadata)
    if memory.metadata:
        metadata["metadata"] = dict(memory.metadata)
    return Chunk(
        id=memory.id,
        content=memory.body.chunk_text,
        source=Source(memory.type.value),
        timestamp=memory.valid_from,
        score=score,
        metadata=metadata,
    )


def chunk_of_turn(turn: Turn, score: float | None) -> Chunk:
    """Return a turn as a chunk."""
    metadata: dict[str, Any] = {
        "session_id": turn.session_id,
        "role": turn.role.value,
        "turn_seq": turn.turn_seq,
        "user_id": turn.user_id,
    }
    for name in _TURN_FIELDS:
        value = getattr(turn, name)
        if value:
            metadata[name] = value
    if turn.is_error:
        metadata["is_error"] = True
    if turn.speaker != turn.role.value:
        metadata["speaker"] = turn.speaker
    if turn.metadata:
        metadata["metadata"] = dict(turn.metadata)
    return Chunk(
        id=turn.id,
        content=turn.content,
        source=Source.STM,
        timestamp=turn.event_time or turn.created_at,
        score=score,
        metadata=metadata,
    )


def event_time_document(event: EventTime) -> dict[str, str]:
    """Return an event time as it travels.

    ISO 8601 start and end (exclusive), how exactly it is known, in words, and as it was said.
    """
    return {
        "start": event.start.isoformat(),
        "end": event.end.isoformat(),
        "precision": event.precision.value,
        "in_words": took_place(event.start, event.end),
        "words": event.words,
    }


def body_document(memory: Memory) -> dict[str, Any]:
    """Return the type's own fields of a memory as plain values."""
    return {name.name: _plain(getattr(memory.body, name.name)) for name in fields(memory.body)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.document if isinstance(value, Said) else value
