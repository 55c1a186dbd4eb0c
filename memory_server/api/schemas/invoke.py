"""Invocations of the agent on the wire."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field

from memory_server.api.places import told
from memory_server.api.schemas.common import Answer, Body, Id, JsonObject
from memory_server.domain.account import PrincipalKind
from memory_server.domain.chunk import Source
from memory_server.domain.execution import Execution, ExecutionStatus
from memory_server.domain.tokens import count_tokens
from memory_server.errors import MemoryServerError
from memory_server.ports.agent import AgentEvent
from memory_server.services.invocation import InvokeOutcome, InvokeRequest


class InvokeBody(Body):
    """One message to the agent."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("message",))

    message: str = ""
    payload: JsonObject | None = None
    """Handed to the agent; stands for the message where there is none."""
    user_id: Id | None = None
    """Whose memory is meant; ignored, with a warning, where a service account invokes, unless the
    project allows delegation."""
    session_id: Id | None = None
    """1 to 128 of A-Z, a-z, 0-9, underscore and hyphen; a new session if absent."""

    def request(self, project_id: str, workspace: str, headers: Mapping[str, str]) -> InvokeRequest:
        """Return the invocation."""
        return InvokeRequest(
            project_id=project_id,
            workspace=workspace,
            message=self.message,
            payload=self.payload,
            user_id=self.user_id,
            session_id=self.session_id,
            headers=headers,
        )


class LocalInvokeBody(InvokeBody):
    """One message to the agent, as local callers write it."""

    thread_id: Id | None = None
    """Another name of `session_id`, which comes first."""

    def request(self, project_id: str, workspace: str, headers: Mapping[str, str]) -> InvokeRequest:
        """Return the invocation."""
        return InvokeRequest(
            project_id=project_id,
            workspace=workspace,
            message=self.message,
            payload=self.payload,
            user_id=self.user_id,
            session_id=self.session_id or self.thread_id,
            headers=headers,
        )


class IdentityDocument(Answer):
    """Whose memory was used."""

    kind: PrincipalKind
    user_id: str
    overridden: bool
    """Whether a `user_id` was given and ignored."""
    delegated: bool
    """Whether a service account acted for a user it named."""


class ContextSummary(Answer):
    """What was recalled for the answer: memories, and under `stm` the newest turns as said."""

    token_count: int = 0
    memory_counts: dict[str, int] = Field(default_factory=dict)


class Outcome(Answer):
    """How an invocation ended."""

    execution_id: str
    status: ExecutionStatus = ExecutionStatus.COMPLETED
    session_id: str
    user_id: str
    identity: IdentityDocument
    warnings: list[str]
    answered_by: str
    context: ContextSummary
    suspend_reason: str | None = None
    """Always null: agents here run to their end."""
    suspend_context: dict[str, Any] | None = None


class InvokeAnswer(Outcome):
    """The agent's answer."""

    success: bool = True
    response: str

    @classmethod
    def of(cls, outcome: InvokeOutcome) -> "InvokeAnswer":
        """Return an outcome as it travels."""
        return cls(response=outcome.response, **_outcome(outcome))


class Frame(Answer):
    """One frame of a streamed answer.

    `text` pieces and `step`, `subagent_start` and `subagent_end` events, then `done`, whose
    metadata is the outcome; or `error` where it broke off, whose metadata has the `code`.
    """

    chunk_type: str
    content: str = ""
    metadata: dict[str, Any] | None = None
    execution_id: str | None = None

    @classmethod
    def told(cls, event: AgentEvent, execution_id: str) -> "Frame":
        """Return what the agent told as it travels."""
        return cls(
            chunk_type=event.kind.value,
            content=event.text,
            metadata=dict(event.metadata) or None,
            execution_id=execution_id,
        )

    @classmethod
    def done(cls, outcome: InvokeOutcome) -> "Frame":
        """Return the last frame."""
        return cls(
            chunk_type="done",
            metadata=Outcome(**_outcome(outcome)).model_dump(mode="json"),
            execution_id=outcome.execution_id,
        )

    @classmethod
    def failed(cls, error: MemoryServerError, execution_id: str, request_id: str) -> "Frame":
        """Return the last frame of an answer that broke off."""
        return cls(
            chunk_type="error",
            content=told(error),
            metadata={"code": error.code, "request_id": request_id},
            execution_id=execution_id,
        )


class LocalAnswer(Answer):
    """The agent's answer, as local callers read it."""

    execution_id: str
    result: str
    status: ExecutionStatus = ExecutionStatus.COMPLETED
    thread_id: str
    user_id: str
    error: str | None = None
    warnings: list[str]

    @classmethod
    def of(cls, outcome: InvokeOutcome) -> "LocalAnswer":
        """Return an outcome as it travels."""
        return cls(
            execution_id=outcome.execution_id,
            result=outcome.response,
            thread_id=outcome.session_id,
            user_id=outcome.identity.user_id,
            warnings=list(outcome.warnings),
        )


class LocalFrame(Answer):
    """One frame of a streamed answer, as local callers read it."""

    chunk_type: str
    content: str = ""
    error: str | None = None
    execution_id: str
    metadata: dict[str, Any] | None = None
    step_number: int | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None

    @classmethod
    def told(cls, event: AgentEvent, execution_id: str) -> "LocalFrame":
        """Return what the agent told; a step's number and tool come out of its metadata."""
        more = event.metadata
        number = more.get("step_number")
        return cls(
            chunk_type=event.kind.value,
            content=event.text,
            execution_id=execution_id,
            metadata=dict(more) or None,
            step_number=number if type(number) is int else None,
            tool_call_id=_text(more.get("tool_call_id")),
            tool_name=_text(more.get("tool_name")),
        )

    @classmethod
    def done(cls, outcome: InvokeOutcome) -> "LocalFrame":
        """Return the last frame."""
        frame = Frame.done(outcome)
        return cls(
            chunk_type=frame.chunk_type,
            metadata=frame.metadata,
            execution_id=outcome.execution_id,
        )

    @classmethod
    def failed(cls, error: MemoryServerError, execution_id: str, request_id: str) -> "LocalFrame":
        """Return the last frame of an answer that broke off."""
        return cls(
            chunk_type="error",
            error=told(error),
            metadata={"code": error.code, "request_id": request_id},
            execution_id=execution_id,
        )


class ExecutionDocument(Answer):
    """One invocation, as it stands."""

    execution_id: str
    status: ExecutionStatus
    project_id: str
    workspace_id: str
    session_id: str
    user_id: str
    started_at: datetime
    ended_at: datetime | None
    error_code: str | None
    """Why it failed."""

    @classmethod
    def of(cls, execution: Execution) -> "ExecutionDocument":
        """Return an execution as it travels."""
        return cls(
            execution_id=execution.id,
            status=execution.status,
            project_id=execution.project_id,
            workspace_id=execution.workspace,
            session_id=execution.session_id,
            user_id=execution.user_id,
            started_at=execution.started_at,
            ended_at=execution.ended_at,
            error_code=execution.error_code,
        )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _outcome(outcome: InvokeOutcome) -> dict[str, Any]:
    identity = outcome.identity
    return {
        "execution_id": outcome.execution_id,
        "session_id": outcome.session_id,
        "user_id": identity.user_id,
        "identity": IdentityDocument(
            kind=identity.kind,
            user_id=identity.user_id,
            overridden=identity.overridden,
            delegated=identity.delegated,
        ),
        "warnings": list(outcome.warnings),
        "answered_by": outcome.answered_by,
        "context": _recalled(outcome),
    }


def _recalled(outcome: InvokeOutcome) -> ContextSummary:
    context, recent = outcome.context, outcome.recent
    tokens = sum(count_tokens(f"{turn.role.value}: {turn.content}") for turn in recent)
    counts = {} if context is None else dict(context.memory_counts)
    if recent:
        counts[Source.STM.value] = len(recent)
    return ContextSummary(
        token_count=tokens + (0 if context is None else context.token_count), memory_counts=counts
    )
