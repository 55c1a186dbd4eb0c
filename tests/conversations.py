"""Conversations for tests of extraction."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memory_server.domain.candidate import Conversation
from memory_server.domain.snapshot import Snapshot, Trigger
from memory_server.domain.turn import Role, Turn

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def turn(
    number: int, content: str, *, role: Role = Role.USER, metadata: Mapping[str, Any] | None = None
) -> Turn:
    return Turn(
        id=f"t{number}",
        project_id="p",
        session_id="s",
        user_id="u",
        role=role,
        content=content,
        created_at=NOW,
        turn_seq=number,
        metadata=metadata or {},
    )


def conversation(*turns: Turn) -> Conversation:
    snapshot = Snapshot(
        id="snap",
        project_id="p",
        session_id="s",
        user_id="u",
        agent_id=None,
        first_seq=1,
        last_seq=len(turns),
        trigger=Trigger.FLUSH,
        created_at=NOW,
    )
    return Conversation(snapshot=snapshot, turns=turns)


def said(*contents: str, metadata: Mapping[str, Any] | None = None) -> Conversation:
    """What the user said, a turn each."""
    return conversation(
        *(turn(number, text, metadata=metadata) for number, text in enumerate(contents, 1))
    )
