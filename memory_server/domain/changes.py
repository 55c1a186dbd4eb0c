"""Where the candidates of a snapshot come from, and what becomes of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.embedding import Vector
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.reconciliation import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where all candidates of one snapshot come from."""

    project_id: str
    user_id: str | None
    agent_id: str | None
    session_id: str
    snapshot_id: str
    extractor: str
    said: Mapping[str, datetime]
    """When each turn was said, by turn id."""
    approval: str = ""
    """Who decided that it is remembered, in words; empty: nobody was asked."""

    @classmethod
    def of(cls, conversation: Conversation, extractor: str) -> "Provenance":
        """Return where the candidates of a conversation come from."""
        snapshot = conversation.snapshot
        return cls(
            project_id=snapshot.project_id,
            user_id=snapshot.user_id,
            agent_id=snapshot.agent_id,
            session_id=snapshot.session_id,
            snapshot_id=snapshot.id,
            extractor=extractor,
            said={turn.id: turn.event_time or turn.created_at for turn in conversation.turns},
        )

    def said_at(self, candidate: Candidate) -> datetime:
        """Return when the candidate was last said."""
        times = [self.said[turn] for turn in candidate.turn_ids if turn in self.said]
        return max(times or self.said.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one candidate."""

    action: Action
    type: MemoryType
    text: str
    reason: str
    memory_id: str | None = None
    previous: str | None = None
    """The text that an UPDATE replaced."""

    def as_document(self) -> dict[str, str | None]:
        """Return it as it is kept with the job and shown to operators."""
        return {
            "action": self.action.value,
            "type": self.type.value,
            "text": self.text,
            "reason": self.reason,
            "memory_id": self.memory_id,
            "previous": self.previous,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One memory to be written."""

    memory: Memory
    is_new: bool
    former_id: str | None = None
    history_of: str | None = None
    """The memory whose history a new, past memory completes."""
    vector: Vector | None = None
