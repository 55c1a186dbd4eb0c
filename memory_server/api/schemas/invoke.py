"""Invocations of the agent on the wire."""

from typing import Any, ClassVar

from memory_server.api.schemas.common import Answer, Body, Id, JsonObject
from memory_server.domain.account import PrincipalKind
from memory_server.services.invocation import EventKind, InvokeEvent, InvokeOutcome, InvokeRequest


class InvokeBody(Body):
    """One message to the agent."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("message",))

    message: str = ""
    payload: JsonObject | None = None
    """Stands for the message where there is none."""
    user_id: Id | None = None
    """Whose memory is meant; ignored, with a warning, where a service account invokes."""
    session_id: Id | None = None
    """1 to 128 of A-Z, a-z, 0-9, underscore and hyphen; a new session if absent."""

    def request(self, project_id: str) -> InvokeRequest:
        """Return the invocation."""
        return InvokeRequest(
            project_id=project_id,
            message=self.message,
            payload=self.payload,
            user_id=self.user_id,
            session_id=self.session_id,
        )


class IdentityDocument(Answer):
    """Whose memory was used."""

    kind: PrincipalKind
    user_id: str
    overridden: bool
    """Whether a `user_id` was given and ignored."""


class ContextSummary(Answer):
    """What was recalled for the answer."""

    token_count: int
    memory_counts: dict[str, int]


class Outcome(Answer):
    """How an invocation ended."""

    execution_id: str
    status: str = "completed"
    session_id: str
    user_id: str
    identity: IdentityDocument
    warnings: list[str]
    answered_by: str
    context: ContextSummary


class InvokeAnswer(Outcome):
    """The agent's answer."""

    success: bool = True
    response: str

    @classmethod
    def of(cls, outcome: InvokeOutcome) -> "InvokeAnswer":
        """Return an outcome as it travels."""
        return cls(response=outcome.response, **_outcome(outcome))


class Frame(Answer):
    """One frame of a streamed answer: `text` pieces, then `done`; `error` where it broke off."""

    chunk_type: str
    content: str = ""
    metadata: dict[str, Any] | None = None
    execution_id: str | None = None

    @classmethod
    def of(cls, event: InvokeEvent) -> "Frame":
        """Return an event as it travels; the last frame's metadata is the outcome."""
        if event.kind is not EventKind.DONE or event.outcome is None:
            return cls(chunk_type=event.kind.value, content=event.text)
        return cls(
            chunk_type=event.kind.value,
            metadata=Outcome(**_outcome(event.outcome)).model_dump(mode="json"),
            execution_id=event.outcome.execution_id,
        )


def _outcome(outcome: InvokeOutcome) -> dict[str, Any]:
    identity = outcome.identity
    return {
        "execution_id": outcome.execution_id,
        "session_id": outcome.session_id,
        "user_id": identity.user_id,
        "identity": IdentityDocument(
            kind=identity.kind, user_id=identity.user_id, overridden=identity.overridden
        ),
        "warnings": list(outcome.warnings),
        "answered_by": outcome.answered_by,
        "context": ContextSummary(
            token_count=outcome.context.token_count,
            memory_counts=dict(outcome.context.memory_counts),
        ),
    }
