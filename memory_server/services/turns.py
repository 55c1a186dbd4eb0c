"""Recording what was said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_server.domain.dates import source_time
from memory_server.domain.embedding import Vector
from memory_server.domain.limits import MAX_CONTENT_BYTES
from memory_server.domain.scope import Scope
from memory_server.domain.turn import NewTurn, Role, Turn
from memory_server.domain.words import embedding_text
from memory_server.errors import InvalidRequest, TooLarge
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.turns import Turns
from memory_server.services.vectors import vector_in_time


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """What a client says about one turn."""

    session_id: str
    role: Role
    content: str = ""
    idempotency_key: str | None = None
    tool_calls: Sequence[Any] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model_name: str | None = None
    tokens: int | None = None
    stop_reason: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stored turn, and whether it was stored before under the same idempotency key."""

    turn: Turn
    is_duplicate: bool


class TurnRecording:
    """Stores turns, durably, before it answers; everything else happens later."""

    def __init__(
        self,
        *,
        turns: Turns,
        clock: Clock,
        ids: Ids,
        embedder: Embedder,
        embed_on_write: bool,
        on_recorded: Callable[[], None],
    ) -> None:
        self._turns = turns
        self._clock = clock
        self._ids = ids
        self._embedder = embedder
        self._embed_on_write = embed_on_write
        self._on_recorded = on_recorded

    async def record(self, scope: Scope, given: TurnInput) -> Recorded:
        """Store one turn of the scope's user and agent, numbered.

        Raises `InvalidRequest` or `TooLarge` before anything is stored. A key already used by
        this user in this session returns the turn stored under it.
        """
        _validate(given)
        turn = NewTurn(
            id=self._ids.new(),
            project_id=scope.project_id,
            session_id=given.session_id,
            user_id=scope.user_id,
            agent_id=scope.agent_id,
            role=given.role,
            content=given.content,
            created_at=self._clock.now(),
            event_time=source_time(given.metadata, given.content),
            idempotency_key=given.idempotency_key,
            tool_calls=given.tool_calls,
            tool_call_id=given.tool_call_id,
            tool_name=given.tool_name,
            is_error=given.is_error,
            model_name=given.model_name,
            tokens=given.tokens,
            stop_reason=given.stop_reason,
            metadata=given.metadata,
        )
        stored = await self._turns.append(
            turn, vector=await self._vector(turn), space=self._embedder.space
        )
        is_duplicate = stored.id != turn.id
        if not is_duplicate:
            self._on_recorded()
        return Recorded(stored, is_duplicate)

    async def _vector(self, turn: NewTurn) -> Vector | None:
        """Embed the turn if the configuration asks for it; a turn is never lost over its vector."""
        if not self._embed_on_write or not turn.content.strip():
            return None
        return await vector_in_time(self._embedder, embedding_text(turn), of=f"turn {turn.id}")


def _validate(given: TurnInput) -> None:
    if not given.session_id.strip():
        raise InvalidRequest("session_id: a turn belongs to a session; give its id")
    has_content = bool(given.content.strip())
    if given.role is Role.ASSISTANT:
        if not has_content and not given.tool_calls:
            raise InvalidRequest("content: an assistant turn needs content or tool_calls")
    elif not has_content:
        raise InvalidRequest(f"content: a {given.role.value} turn needs content that is not blank")
    if given.role is Role.TOOL and not given.tool_call_id:
        raise InvalidRequest("tool_call_id: a tool turn needs the id of the call it answers")
    size = len(given.content.encode())
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(
            f"content: {size} bytes; a turn may have {MAX_CONTENT_BYTES} at most. "
            "Nothing was stored"
        )
