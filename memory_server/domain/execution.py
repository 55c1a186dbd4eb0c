"""One invocation of the agent: whose it is, and how it stands."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from memory_server.domain.account import PrincipalKind

SERVER_GONE = "SERVER_GONE"
"""The code of an execution whose server was not heard of any more before it ended."""


class ExecutionStatus(StrEnum):
    """Where an execution stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self is not ExecutionStatus.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryIdentity:
    """Whose memory an invocation reads and writes."""

    kind: PrincipalKind
    """Of the caller who invoked."""
    invoker: str = ""
    """The id of that caller's principal."""
    user_id: str
    overridden: bool = False
    """Whether a `user_id` was supplied and ignored."""
    delegated: bool = False
    """Whether a service account acts for a user it named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One invocation of the agent."""

    id: str
    project_id: str
    workspace: str
    server_id: str = ""
    """The server that works on it."""
    identity: MemoryIdentity
    session_id: str
    status: ExecutionStatus
    started_at: datetime
    ended_at: datetime | None = None
    error_code: str | None = None
    """Why it failed: the code of the error that the caller was given."""

    @property
    def user_id(self) -> str:
        """The memory identity: the principal of memory requests made inside the execution."""
        return self.identity.user_id

    def ended(
        self, status: ExecutionStatus, *, at: datetime, error_code: str | None = None
    ) -> "Execution":
        """Return it as it stands when it is over; one that is over already stays as it ended."""
        if self.status.is_over:
            return self
        return replace(self, status=status, ended_at=at, error_code=error_code)
