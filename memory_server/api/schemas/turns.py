"""Turns on the wire."""

from typing import Annotated

from pydantic import Field

from memory_server.api.schemas.common import (
    ONLY_NUMBERS,
    Answer,
    Body,
    Flag,
    Id,
    JsonList,
    JsonObject,
)
from memory_server.domain.turn import Role
from memory_server.services.turns import Recorded, TurnInput

MAX_TOKENS = 2**53
"""The largest whole number that every JSON reader keeps exact."""


class TurnBody(Body):
    """One turn of a conversation, as it was said."""

    session_id: Id = ""
    role: Role
    content: str = ""
    user_id: Id | None = None
    agent_id: Id | None = None
    idempotency_key: Id | None = None
    """The same key again, of the same user in the same session, returns the stored turn and writes
    nothing."""
    tool_calls: JsonList | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: Flag = False
    model_name: str | None = None
    tokens: Annotated[int, Field(ge=0, le=MAX_TOKENS), ONLY_NUMBERS] | None = None
    stop_reason: str | None = None
    metadata: JsonObject = Field(default_factory=dict)

    def turn(self) -> TurnInput:
        """Return the turn to be recorded."""
        return TurnInput(
            session_id=self.session_id,
            role=self.role,
            content=self.content,
            idempotency_key=self.idempotency_key,
            tool_calls=self.tool_calls,
            tool_call_id=self.tool_call_id,
            tool_name=self.tool_name,
            is_error=self.is_error,
            model_name=self.model_name,
            tokens=self.tokens,
            stop_reason=self.stop_reason,
            metadata=self.metadata,
        )


class TurnReceipt(Answer):
    """What was stored."""

    id: str
    session_id: str
    turn_seq: int
    """The turn's place in its session, from 1, without gaps."""
    acknowledged: bool = True
    has_embedding: bool
    duplicate: bool
    """Whether it was stored before under the same idempotency key, so that nothing was written."""

    @classmethod
    def of(cls, recorded: Recorded) -> "TurnReceipt":
        """Return the receipt of a stored turn."""
        turn = recorded.turn
        return cls(
            id=turn.id,
            session_id=turn.session_id,
            turn_seq=turn.turn_seq,
            has_embedding=turn.has_embedding,
            duplicate=recorded.is_duplicate,
        )
