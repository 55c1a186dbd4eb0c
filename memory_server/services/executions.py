"""The invocations of agents that run or ran a moment ago: whose they are, and how to stop them."""

import asyncio
import hmac
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from memory_server.domain.account import PrincipalKind
from memory_server.errors import LimitExceeded
from memory_server.ports.agent import Badge, Badges
from memory_server.ports.clock import Clock, Ids

MOST_KEPT = 10_000
"""Executions in memory; the oldest of those that ended are forgotten first."""
STOP_SECONDS = 10.0


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


class Executions(Badges):
    """Knows the executions of this server, in memory and bounded."""

    def __init__(self, *, clock: Clock, ids: Ids, most: int = MOST_KEPT) -> None:
        self._clock = clock
        self._ids = ids
        self._most = most
        self._known: OrderedDict[str, Execution] = OrderedDict()
        self._stops: dict[str, Callable[[], None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._badges: list[Badge] = []

    def begin(
        self, *, project_id: str, identity: MemoryIdentity, session_id: str, workspace: str
    ) -> Execution:
        """Return a new running execution; raises `LimitExceeded` if too many are running."""
        self._make_room()
        execution = Execution(
            id=self._ids.new(),
            project_id=project_id,
            workspace=workspace,
            identity=identity,
            session_id=session_id,
            status=ExecutionStatus.RUNNING,
            started_at=self._clock.now(),
        )
        self._known[execution.id] = execution
        return execution

    def find(self, execution_id: str) -> Execution | None:
        """Return an execution as it stands now; None if it was never here or is forgotten."""
        return self._known.get(execution_id)

    def finish(
        self, execution_id: str, status: ExecutionStatus, *, error_code: str | None = None
    ) -> Execution | None:
        """Note how an execution ended and return it; the first end counts."""
        self._stops.pop(execution_id, None)
        found = self._known.get(execution_id)
        if found is None or found.status.is_over:
            return found
        ended = replace(found, status=status, ended_at=self._clock.now(), error_code=error_code)
        self._known[execution_id] = ended
        return ended

    def attach(self, execution_id: str, stop: Callable[[], None], task: asyncio.Task[None]) -> None:
        """Say how a running execution is stopped, and which task works on it."""
        self._stops[execution_id] = stop
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, *, seconds: float = STOP_SECONDS) -> None:
        """Stop everything that runs, and wait until what was told is written down."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    def cancel(self, execution_id: str) -> Execution | None:
        """Stop a running execution and return it; one that is over stays as it ended."""
        stop = self._stops.get(execution_id)
        ended = self.finish(execution_id, ExecutionStatus.CANCELLED)
        if stop is not None:
            stop()
        return ended

    def admit(self, badge: Badge) -> None:
        self._badges.append(badge)

    def expel(self, badge: Badge) -> None:
        self._badges = [known for known in self._badges if known is not badge]

    def is_badge(self, token: str) -> bool:
        """Whether a bearer token is the badge of an agent's process, working or not."""
        return self._badge(token) is not None

    def of_badge(self, token: str) -> Execution | None:
        """Return the running execution that a bearer token is good for, or None."""
        badge = self._badge(token)
        if badge is None or badge.execution_id is None:
            return None
        found = self._known.get(badge.execution_id)
        return None if found is None or found.status.is_over else found

    def _badge(self, token: str) -> Badge | None:
        given = token.encode()
        return next((b for b in self._badges if hmac.compare_digest(b.token.encode(), given)), None)

    def _make_room(self) -> None:
        if len(self._known) < self._most:
            return
        oldest = next((id_ for id_, kept in self._known.items() if kept.status.is_over), None)
        if oldest is None:
            raise LimitExceeded(f"{self._most} executions are running; that is the most")
        del self._known[oldest]
