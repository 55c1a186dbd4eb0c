"""One utterance of a conversation, as recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who spoke."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


QUOTES_MEMORY = "local"
"""The answerer that only quotes memory, as its turns' metadata name it under `answered_by`."""


def speaker_of(metadata: Mapping[str, Any], role: str) -> str:
    """Return the name shown for who spoke: the source's own, else the role."""
    named = metadata.get("speaker")
    return named if isinstance(named, str) and named.strip() else role


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn before the store has numbered it."""

    id: str
    project_id: str
    session_id: str
    role: Role
    content: str
    created_at: datetime
    user_id: str | None = None
    agent_id: str | None = None
    event_time: datetime | None = None
    """When it was said, if the source tells; keeps the speaker's UTC offset."""
    idempotency_key: str | None = None
    tool_calls: Sequence[Any] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model_name: str | None = None
    tokens: int | None = None
    stop_reason: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """The name shown for the speaker: the source's own, else the role."""
        return speaker_of(self.metadata, self.role.value)

    @property
    def only_quotes_memory(self) -> bool:
        """Whether it says what is remembered already, and is nobody's own word."""
        return self.role is Role.ASSISTANT and self.metadata.get("answered_by") == QUOTES_MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(NewTurn):
    """A recorded turn."""

    turn_seq: int
    """Position in its session, from 1, without gaps."""
    snapshot_id: str | None = None
    has_embedding: bool = False
