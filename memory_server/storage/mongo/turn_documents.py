"""Turns as documents.

`text`, `fields` and `moments` are made of the rest: what searches match and what filters compare.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from memory_server.domain.moments import (
    from_micros,
    moment_of_text,
    moment_text,
    to_micros,
)
from memory_server.domain.turn import NewTurn, Role, Turn, speaker_of
from memory_server.domain.utterance import Utterance
from memory_server.domain.words import index_text, turn_text
from memory_server.search.atlas.documents import MOMENTS, moments
from memory_server.search.local.entries import turn_fields
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.filters import comparable
from memory_server.storage.mongo.json_fields import json_field, json_names, json_of

_TEXTS = ("tool_call_id", "tool_name", "is_error", "model_name", "stop_reason")
_JSON = ("tool_calls", "tokens", "metadata")

UNREAD = {"vectors": 0, "fields": 0, "text": 0, MOMENTS: 0}
"""The projection of those who read turns: what `turn_of` does not need."""


SAID = {
    **dict.fromkeys(("id", "session_id", "role", "content", "created_at", "event_time"), 1),
    **json_names("metadata"),
}
"""The projection of those who read what turns say: what `utterance_of` needs."""


def turn_document(turn: NewTurn) -> Document:
    """Return a new turn's document, but for its numbers; without a key it has no field for one."""
    document: Document = {
        "_id": identity(turn.project_id, turn.id),
        "id": turn.id,
        "project_id": turn.project_id,
        "session_id": turn.session_id,
        "user_id": turn.user_id,
        "agent_id": turn.agent_id,
        "role": turn.role.value,
        "content": turn.content,
        "created_at": to_micros(turn.created_at),
        "event_time": moment_text(turn.event_time),
        **{name: getattr(turn, name) for name in _TEXTS},
        "text": index_text(turn_text(turn)),
        "fields": comparable(turn_fields(turn)),
        MOMENTS: moments(turn.metadata),
        "has_embedding": False,
    }
    for name in _JSON:
        document |= json_field(name, getattr(turn, name))
    if turn.idempotency_key is not None:
        document["idempotency_key"] = turn.idempotency_key
    return document


def turn_of(document: Mapping[str, Any]) -> Turn:
    """Return a recorded turn."""
    return Turn(
        id=document["id"],
        project_id=document["project_id"],
        session_id=document["session_id"],
        turn_seq=int(document["turn_seq"]),
        user_id=document["user_id"],
        agent_id=document["agent_id"],
        role=Role(document["role"]),
        content=document["content"],
        created_at=from_micros(document["created_at"]),
        event_time=moment_of_text(document["event_time"]),
        idempotency_key=document.get("idempotency_key"),
        snapshot_id=document.get("snapshot_id"),
        has_embedding=document["has_embedding"],
        **{name: document[name] for name in _TEXTS},
        **{name: json_of(document, name) for name in _JSON},
    )


def utterance_of(document: Mapping[str, Any]) -> Utterance:
    """Return what a turn says."""
    return Utterance(
        id=document["id"],
        session=document["session_id"],
        speaker=speaker_of(json_of(document, "metadata"), document["role"]),
        role=document["role"],
        text=document["content"],
        said_at=moment_of_text(document["event_time"]) or from_micros(document["created_at"]),
    )


def numbered(turn: NewTurn, turn_seq: int, *, has_embedding: bool) -> Turn:
    """Return a turn as it was recorded just now."""
    given = {field.name: getattr(turn, field.name) for field in fields(NewTurn)}
    return Turn(**given, turn_seq=turn_seq, has_embedding=has_embedding)
