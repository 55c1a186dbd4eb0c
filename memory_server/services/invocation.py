"""Invoking the built-in agent: identity, context, answer, and the turns recorded."""

import json
import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.chunk import Source
from memory_server.domain.formats import FormatStyle
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role, Turn
from memory_server.errors import InvalidRequest
from memory_server.ports.answerer import Answerer
from memory_server.ports.clock import Ids
from memory_server.ports.turns import Turns
from memory_server.services.context import ContextAnswer, ContextBuilding, ContextRequest
from memory_server.services.turns import TurnInput, TurnRecording

logger = logging.getLogger(__name__)

RECENT_TURNS = 40
TOP_K = 20
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LONG_TERM = (Source.SEMANTIC, Source.EPISODIC, Source.TAXONOMIC, Source.PROCEDURAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeRequest:
    """One message to the agent."""

    project_id: str
    message: str
    payload: Mapping[str, Any] | None = None
    user_id: str | None = None
    session_id: str | None = None


class EventKind(StrEnum):
    """What a frame of a streamed answer is."""

    TEXT = "text"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeEvent:
    """One frame of the answer; the last is DONE and carries the outcome."""

    kind: EventKind
    text: str = ""
    outcome: "InvokeOutcome | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryIdentity:
    """Whose memory an invocation reads and writes."""

    kind: PrincipalKind
    user_id: str
    overridden: bool = False
    """Whether a `user_id` was supplied and ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeOutcome:
    """How an invocation ended."""

    execution_id: str
    session_id: str
    response: str
    identity: MemoryIdentity
    answered_by: str
    context: ContextAnswer
    warnings: Sequence[str] = field(default_factory=tuple)


class Invocation:
    """The built-in agent."""

    def __init__(
        self,
        *,
        recording: TurnRecording,
        turns: Turns,
        context: ContextBuilding,
        answerer: Answerer,
        ids: Ids,
    ) -> None:
        self._recording = recording
        self._turns = turns
        self._context = context
        self._answerer = answerer
        self._ids = ids

    async def invoke(
        self, principal: Principal, request: InvokeRequest
    ) -> AsyncIterator[InvokeEvent]:
        """Yield the answer in pieces, then its outcome.

        A service account is itself the memory identity; a supplied `user_id` is ignored with
        a warning. The message is recorded even if no answer can be given; the answer after it.
        """
        identity, warnings = memory_identity(principal, request.user_id)
        message = _message(request)
        execution_id = self._ids.new()
        scope = Scope(
            project_id=request.project_id,
            user_id=identity.user_id,
            session_id=_session_id(request.session_id) or f"session-{self._ids.new()}",
        )
        context = await self._context.build(
            ContextRequest(
                scope=scope,
                query=request.message,
                sources=_LONG_TERM,
                top_k=TOP_K,
                style=FormatStyle.JINJA2,
            )
        )
        recent = await self._not_yet_extracted(scope)
        await self._record(scope, Role.USER, message, f"workflow:{execution_id}:input")
        pieces: list[str] = []
        async for piece in self._answerer.answer(
            message, context=str(context.formatted), chunks=context.selected, recent=recent
        ):
            pieces.append(piece)
            yield InvokeEvent(kind=EventKind.TEXT, text=piece)
        response = "".join(pieces)
        if response.strip():
            key = f"workflow:{execution_id}:output"
            answered_by = {"answered_by": self._answerer.name}
            await self._record(scope, Role.ASSISTANT, response, key, metadata=answered_by)
        assert scope.session_id is not None
        yield InvokeEvent(
            kind=EventKind.DONE,
            outcome=InvokeOutcome(
                execution_id=execution_id,
                session_id=scope.session_id,
                response=response,
                identity=identity,
                answered_by=self._answerer.name,
                context=context,
                warnings=warnings,
            ),
        )

    async def _not_yet_extracted(self, scope: Scope) -> Sequence[Turn]:
        """Return the user's newest turns: of this session, and of others what still waits.

        What was said a minute ago in another session is in no long-term memory yet; a user
        expects it to be known all the same.
        """
        everywhere = Scope(project_id=scope.project_id, user_id=scope.user_id)
        newest = await self._turns.recent(everywhere, limit=RECENT_TURNS)
        return [
            turn
            for turn in newest
            if turn.session_id == scope.session_id or turn.snapshot_id is None
        ]

    async def _record(
        self,
        scope: Scope,
        role: Role,
        content: str,
        key: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        assert scope.session_id is not None
        given = TurnInput(
            session_id=scope.session_id,
            role=role,
            content=content,
            idempotency_key=key,
            metadata=metadata or {},
        )
        await self._recording.record(scope, given)


def memory_identity(
    principal: Principal, supplied: str | None
) -> tuple[MemoryIdentity, Sequence[str]]:
    """Return whose memory an invocation uses, and what the caller should be told about it."""
    if principal.kind is PrincipalKind.SERVICE_ACCOUNT:
        overridden = supplied is not None and supplied != principal.id
        identity = MemoryIdentity(kind=principal.kind, user_id=principal.id, overridden=overridden)
        if not overridden:
            return identity, ()
        warning = (
            f"user_id is ignored: the service account {principal.id} invokes the agent and is "
            "itself the memory identity"
        )
        logger.warning("invoke: %s", warning)
        return identity, (warning,)
    if supplied is None:
        raise InvalidRequest(
            "user_id: give the user whose memory is meant, or invoke with a service account"
        )
    return MemoryIdentity(kind=principal.kind, user_id=supplied), ()


def _message(request: InvokeRequest) -> str:
    """Return the message; a payload without one is the message, as JSON."""
    if request.message.strip():
        return request.message
    if request.payload:
        return json.dumps(request.payload, ensure_ascii=False)
    raise InvalidRequest("message: give a message, or a payload")


def _session_id(given: str | None) -> str | None:
    if given is not None and not _SESSION_ID.fullmatch(given):
        raise InvalidRequest(
            "session_id: 1 to 128 of the characters A-Z, a-z, 0-9, underscore and hyphen"
        )
    return given
