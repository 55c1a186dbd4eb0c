"""An exchange: what somebody said and the reply to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from memory_server.domain.turn import Role


class Viewpoint(StrEnum):
    """Whose view of an exchange a block is."""

    USER = "user"
    ASSISTANT = "assistant"
    SEQUENTIAL = "sequential"
    """Everybody's: the exchange as it went."""

    def is_of(self, role: str) -> bool:
        """Whether it is the view of who speaks in a role."""
        return self is Viewpoint.SEQUENTIAL or self == role


BOTH = (Viewpoint.USER, Viewpoint.ASSISTANT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of an exchange."""

    id: str
    role: Role
    """Of the user or the assistant."""
    speaker: str
    """The name shown for the speaker."""
    content: str
    position: int
    """In the exchange, from 1."""

    @property
    def document(self) -> dict[str, Any]:
        """As it is kept and travels."""
        return {
            "id": self.id,
            "role": self.role.value,
            "speaker": self.speaker,
            "content": self.content,
            "position": self.position,
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Return the message of a document."""
        return cls(**{**document, "role": Role(document["role"])})
