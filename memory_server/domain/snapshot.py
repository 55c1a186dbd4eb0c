"""A contiguous run of one session's turns, taken out of short-term memory to be understood."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Trigger(StrEnum):
    """Why a run of turns was ripe."""

    SIZE = "size"
    IDLE = "idle"
    TOPIC_SHIFT = "topic_shift"
    FLUSH = "flush"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run of turns, `first_seq` to `last_seq` inclusive, of one session and one user."""

    id: str
    project_id: str
    session_id: str
    user_id: str | None
    agent_id: str | None
    first_seq: int
    last_seq: int
    trigger: Trigger
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What promotion needs to know about a session."""

    project_id: str
    session_id: str
    last_seq: int
    promoted_seq: int
    """The number up to which nothing waits; 0 when nothing was promoted yet."""
    last_activity: datetime
    user_id: str | None = None
    """The first user that was named in it."""

    @property
    def unpromoted(self) -> int:
        """How many turns wait in short-term memory."""
        return self.last_seq - self.promoted_seq
