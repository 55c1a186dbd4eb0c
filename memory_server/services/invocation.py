"""Invoking the agent: identity, context, answer, and the turns recorded."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_server.domain.account import Principal
from memory_server.domain.calendar import in_words
from memory_server.domain.chunk import Source
from memory_server.domain.execution import Execution, MemoryIdentity
from memory_server.domain.formats import FormatStyle
from memory_server.domain.past_questions import PastQuestion, past_question
from memory_server.domain.policy import memory_identity
from memory_server.domain.project import Project
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role, Turn
from memory_server.errors import InvalidRequest, MemoryServerError, ProjectNotFound
from memory_server.ports.agent import Agent, AgentCall, AgentEventKind, AgentState
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.turns import Turns
from memory_server.services.agent_run import AgentRun, RunLimits, Stop
from memory_server.services.context import ContextAnswer, ContextBuilding, ContextRequest
from memory_server.services.executions import ExecutionKeeping
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
    workspace: str = "local"
    payload: Mapping[str, Any] | None = None
    user_id: str | None = None
    session_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The caller's own headers, for the agent alone: never stored, never logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeOutcome:
    """How an invocation ended."""

    execution_id: str
    session_id: str
    response: str
    identity: MemoryIdentity
    answered_by: str
    context: ContextAnswer | None
    """None where the agent has no memory."""
    recent: Sequence[Turn] = ()
    """The newest turns, which the agent was given beside the context."""
    warnings: Sequence[str] = field(default_factory=tuple)


Run = AgentRun[InvokeOutcome]
ProjectOf = Callable[[str], Awaitable[Project]]


class Invocation:
    """Asks the one agent of this server, whichever it is."""

    def __init__(
        self,
        *,
        recording: TurnRecording,
        turns: Turns,
        context: ContextBuilding,
        agent: Agent,
        executions: ExecutionKeeping,
        clock: Clock,
        ids: Ids,
        project_of: ProjectOf,
        limits: RunLimits | None = None,
    ) -> None:
        self._recording = recording
        self._turns = turns
        self._context = context
        self._agent = agent
        self._executions = executions
        self._clock = clock
        self._ids = ids
        self._project_of = project_of
        self._limits = limits or RunLimits()

    @property
    def agent(self) -> AgentState:
        """How the agent stands."""
        return self._agent.state

    async def start(self, principal: Principal, request: InvokeRequest) -> Run:
        """Begin an invocation; what it tells is read from the run.

        A service account is itself the memory identity; a `user_id` it supplies is ignored with a
        warning, unless its project allows delegation. The message is recorded even if no answer
        can be given; what was told of an answer after it, whole or not. Raises `InvalidRequest` or
        `IdentityRefused` before anything is done.
        """
        project = await self._project_of(request.project_id)
        identity = memory_identity(
            principal, request.user_id, project, needed=self._agent.remembers
        )
        warnings = _warnings(principal, identity)
        message = _message(request)
        execution = await self._executions.begin(
            project_id=request.project_id,
            identity=identity,
            session_id=_session_id(request.session_id) or f"session-{self._ids.new()}",
            workspace=request.workspace,
        )
        return Run(
            execution,
            lambda run: self._converse(run, request, message, warnings),
            executions=self._executions,
            clock=self._clock,
            limits=self._limits,
        )

    async def open(self) -> None:
        """Get the agent ready."""
        await self._agent.start()

    async def close(self) -> None:
        """Stop what runs, and the agent."""
        await self._executions.close()
        await self._agent.close()

    async def _converse(
        self, run: Run, request: InvokeRequest, message: str, warnings: Sequence[str]
    ) -> InvokeOutcome:
        execution = run.execution
        scope = Scope(
            project_id=execution.project_id,
            user_id=execution.user_id,
            session_id=execution.session_id,
        )
        context = await self._recalled(scope, message)
        past = await self._past(scope, message)
        recent = await self._not_yet_extracted(scope)
        await self._record(execution, scope, Role.USER, message, f"workflow:{execution.id}:input")
        call = AgentCall(
            execution_id=execution.id,
            project_id=execution.project_id,
            user_id=execution.user_id,
            session_id=execution.session_id,
            message=message,
            payload=request.payload,
            headers=request.headers,
            context=_told(context, past),
            chunks=() if context is None else context.selected,
            recent=recent,
            past=None if past is None else past.question,
        )
        response = await self._answered(run, scope, call)
        return InvokeOutcome(
            execution_id=execution.id,
            session_id=execution.session_id,
            response=response,
            identity=execution.identity,
            answered_by=self._agent.name,
            context=context,
            recent=recent,
            warnings=warnings,
        )

    async def _answered(self, run: Run, scope: Scope, call: AgentCall) -> str:
        """Pass the answer on and record it; one that is broken off is recorded as far as it got."""
        pieces: list[str] = []
        try:
            async with aclosing(self._agent.answer(call)) as events:
                async for event in events:
                    if event.kind is AgentEventKind.TEXT:
                        pieces.append(event.text)
                    await run.tell(event)
        except BaseException as error:
            reason = getattr(error, "code", None) or (run.stopped or Stop.SHUTDOWN).value
            await self._record_broken_off(run.execution, scope, "".join(pieces), reason)
            raise
        response = "".join(pieces)
        await self._record_answer(run.execution, scope, response)
        return response

    async def _record_broken_off(
        self, execution: Execution, scope: Scope, told: str, reason: str
    ) -> None:
        try:
            await self._record_answer(execution, scope, told, interrupted=reason)
        except MemoryServerError as error:
            logger.warning(
                "execution %s: what was told before it broke off is not recorded: %s",
                *(execution.id, error.code),
            )

    async def _record_answer(
        self, execution: Execution, scope: Scope, text: str, **metadata: str
    ) -> None:
        if text.strip():
            key = f"workflow:{execution.id}:output"
            answered = {"answered_by": self._agent.name, **metadata}
            await self._record(execution, scope, Role.ASSISTANT, text, key, metadata=answered)

    async def _recalled(
        self, scope: Scope, message: str, *, as_of: datetime | None = None
    ) -> ContextAnswer | None:
        if not self._agent.remembers:
            return None
        return await self._context.build(
            ContextRequest(
                scope=scope,
                query=message,
                sources=_LONG_TERM,
                top_k=TOP_K,
                style=FormatStyle.JINJA2,
                as_of=as_of,
            )
        )

    async def _past(self, scope: Scope, message: str) -> "_Past | None":
        """Return what held at the time that the message asks about, if it asks about a past one."""
        asked = past_question(message, self._clock.now())
        if asked is None:
            return None
        found = await self._recalled(scope, asked.rest, as_of=asked.until)
        if found is None or not found.selected:
            return None
        return _Past(question=replace(asked, chunks=found.selected), told=str(found.formatted))

    async def _not_yet_extracted(self, scope: Scope) -> Sequence[Turn]:
        """Return the user's newest turns: of this session, and of others what still waits.

        What was said a minute ago in another session is in no long-term memory yet; a user
        expects it to be known all the same.
        """
        if not self._agent.remembers:
            return ()
        everywhere = Scope(project_id=scope.project_id, user_id=scope.user_id)
        newest = await self._turns.recent(everywhere, limit=RECENT_TURNS)
        return [
            turn
            for turn in newest
            if turn.session_id == scope.session_id or turn.snapshot_id is None
        ]

    async def _record(
        self,
        execution: Execution,
        scope: Scope,
        role: Role,
        content: str,
        key: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        if not self._agent.remembers:
            return
        assert scope.session_id is not None
        if (await self._project_of(scope.project_id)).created_at > execution.started_at:
            raise ProjectNotFound("the project was removed meanwhile; nothing was stored")
        given = TurnInput(
            session_id=scope.session_id,
            role=role,
            content=content,
            idempotency_key=key,
            metadata=metadata or {},
        )
        owner = Scope(
            project_id=scope.project_id,
            user_id=scope.user_id,
            session_id=scope.session_id,
            agent_id=self._agent.id,
        )
        await self._recording.record(owner, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """A question about the past, and what held then as text."""

    question: PastQuestion
    told: str


def _told(context: ContextAnswer | None, past: _Past | None) -> str:
    """Return what is remembered as text; what held at a past time before what holds now."""
    now = "" if context is None else str(context.formatted)
    if past is None:
        return now
    day = in_words(past.question.until)
    then = f"# What held {past.question.words}, as of {day}\n\n{past.told}"
    return f"{then}\n\n# What is known now\n\n{now}" if now else then


def _warnings(principal: Principal, identity: MemoryIdentity) -> Sequence[str]:
    """Return what the caller should be told about whose memory is used, and note it in the log."""
    if identity.delegated:
        logger.info(
            "invoke: the service account %s acts for user %r", principal.id, identity.user_id
        )
    if not identity.overridden:
        return ()
    warning = (
        f"user_id is ignored: the service account {principal.id} invokes the agent and is "
        "itself the memory identity. The project setting allow_delegation lets it name a user"
    )
    logger.warning("invoke: %s", warning)
    return (warning,)


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
