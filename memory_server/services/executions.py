"""The invocations of agents: whose they are, on whichever server, and how to stop them."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta

from memory_server.domain.execution import Execution, ExecutionStatus, MemoryIdentity
from memory_server.domain.server import ALIVE
from memory_server.errors import LimitExceeded, StorageError
from memory_server.ports.agent import Badge, Badges
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.executions import Executions

logger = logging.getLogger(__name__)

MOST_RUNNING = 10_000
"""Executions at a time on one server."""
KEPT = timedelta(days=1)
"""How long an execution is known after it ended."""
STOP_SECONDS = 10.0


class ExecutionKeeping(Badges):
    """Keeps every execution for all servers, and holds on to those that run on this one."""

    def __init__(
        self,
        *,
        executions: Executions,
        clock: Clock,
        ids: Ids,
        server_id: str = "",
        most: int = MOST_RUNNING,
    ) -> None:
        """Prepare; `server_id` is this server's, by which the others see what runs on it."""
        self._executions = executions
        self._clock = clock
        self._ids = ids
        self._server_id = server_id
        self._most = most
        self._running: dict[str, Execution] = {}
        self._stops: dict[str, Callable[[], None]] = {}
        self._unnoted: dict[str, tuple[ExecutionStatus, str | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._badges: list[Badge] = []

    async def begin(
        self, *, project_id: str, identity: MemoryIdentity, session_id: str, workspace: str
    ) -> Execution:
        """Return a new running execution; raises `LimitExceeded` if too many are running here."""
        if len(self._running) >= self._most:
            raise LimitExceeded(f"{self._most} executions are running; that is the most")
        execution = Execution(
            id=self._ids.new(),
            project_id=project_id,
            workspace=workspace,
            server_id=self._server_id,
            identity=identity,
            session_id=session_id,
            status=ExecutionStatus.RUNNING,
            started_at=self._clock.now(),
        )
        self._running[execution.id] = execution
        try:
            await self._executions.begin(execution)
        except BaseException:
            del self._running[execution.id]
            raise
        return execution

    async def find(self, execution_id: str) -> Execution | None:
        """Return an execution as it stands now; None if there was none or it is forgotten."""
        return await self._executions.find(execution_id)

    async def finish(
        self, execution_id: str, status: ExecutionStatus, *, error_code: str | None = None
    ) -> Execution | None:
        """Note how an execution ended and return it; the first end counts."""
        self._let_go(execution_id)
        return await self._executions.finish(
            execution_id, status, at=self._clock.now(), error_code=error_code
        )

    async def settle(
        self, execution_id: str, status: ExecutionStatus, *, error_code: str | None = None
    ) -> None:
        """Do as `finish`, and again later when the store is away."""
        try:
            await self.finish(execution_id, status, error_code=error_code)
        except StorageError as error:
            logger.warning("execution %s: its end is noted later: %s", execution_id, error)
            self._unnoted[execution_id] = status, error_code

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

    async def cancel(self, execution_id: str) -> Execution | None:
        """Stop a running execution and return it; one that is over stays as it ended.

        One that runs on another server is stopped when that one looks after its own next.
        """
        stop = self._stops.get(execution_id)
        ended = await self.finish(execution_id, ExecutionStatus.CANCELLED)
        if stop is not None:
            stop()
        return ended

    async def look_after(self) -> None:
        """Stop what runs here and was cancelled elsewhere, or erased."""
        for execution_id, (status, code) in [*self._unnoted.items()]:
            await self.finish(execution_id, status, error_code=code)
            del self._unnoted[execution_id]
        ids = [*self._running]
        for execution_id in await self._executions.over(ids) if ids else ():
            stop = self._stops.get(execution_id)
            self._let_go(execution_id)
            if stop is not None:
                logger.info("execution %s was ended elsewhere, and is stopped", execution_id)
                stop()

    async def tidy(self, *, alive: Sequence[str] | None) -> None:
        """End what servers left behind that are gone, and forget what is old.

        None: it is not known at the moment which servers are alive.
        """
        now = self._clock.now()
        if alive is not None:
            await self._executions.end_abandoned(alive=alive, started_before=now - ALIVE, at=now)
        await self._executions.forget(ended_before=now - KEPT)

    def admit(self, badge: Badge) -> None:
        self._badges.append(badge)

    def expel(self, badge: Badge) -> None:
        self._badges = [known for known in self._badges if known is not badge]

    def is_badge(self, token: str) -> bool:
        """Whether a bearer token is the badge of an agent's process, working or not."""
        return self._badge(token) is not None

    def of_badge(self, token: str) -> Execution | None:
        """Return the running execution that a bearer token is good for, or None.

        An agent's process asks the server that started it, which has all its executions here.
        """
        badge = self._badge(token)
        if badge is None or badge.execution_id is None:
            return None
        return self._running.get(badge.execution_id)

    def _badge(self, token: str) -> Badge | None:
        given = token.encode()
        return next((b for b in self._badges if hmac.compare_digest(b.token.encode(), given)), None)

    def _let_go(self, execution_id: str) -> None:
        self._stops.pop(execution_id, None)
        self._running.pop(execution_id, None)
