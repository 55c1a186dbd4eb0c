"""One run of an agent: its work in a task of its own, and what it tells on the way to the caller.

The work does not depend on the caller: when they leave, or cancel, or the time is over, it is
stopped in order, and may still write down how far it came.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from memory_server.domain.execution import Execution, ExecutionStatus
from memory_server.errors import AgentTimedOut, ExecutionCancelled, MemoryServerError
from memory_server.ports.agent import AgentEvent
from memory_server.ports.clock import Clock
from memory_server.services.executions import ExecutionKeeping

logger = logging.getLogger(__name__)

MOST_UNREAD = 64
"""How many events wait for a caller who reads slowly, before the agent has to wait."""

Outcome = TypeVar("Outcome")


class Stop(StrEnum):
    """Why a run was stopped before its end."""

    LEFT = "the caller left"
    CANCELLED = "it was cancelled"
    TIMED_OUT = "its time was over"
    SHUTDOWN = "the server stopped"


class KeepAlive:
    """Nothing was told for a while, and the agent is still at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """How long things may take, in seconds."""

    whole: float = 600.0
    """One invocation, from its beginning to the end of its answer."""
    silence: float = 15.0
    """How long a caller hears nothing before it is told that the agent is still at work."""


class AgentRun(Generic[Outcome]):
    """A running invocation; its work begins at once. `events` is to be read by one reader."""

    def __init__(
        self,
        execution: Execution,
        work: "Callable[[AgentRun[Outcome]], Awaitable[Outcome]]",
        *,
        executions: ExecutionKeeping,
        clock: Clock,
        limits: RunLimits,
    ) -> None:
        self.execution = execution
        self.stopped: Stop | None = None
        """Why the work was cancelled, for work that wants to know."""
        self._executions = executions
        self._clock = clock
        self._limits = limits
        self._told: deque[AgentEvent] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._result: Outcome | MemoryServerError | None = None
        self.task = asyncio.create_task(self._run(work), name=f"execution {execution.id}")
        self.task.add_done_callback(lambda _: self._news.set())
        executions.attach(execution.id, lambda: self.stop(Stop.CANCELLED), self.task)

    def stop(self, reason: Stop) -> None:
        """Ask the work to end; returns at once, and does nothing when it has ended."""
        if not self.task.done() and self.stopped is None:
            self.stopped = reason
            self.task.cancel()

    async def tell(self, event: AgentEvent) -> None:
        """Pass an event on; waits while the reader has too many before it."""
        while len(self._told) >= MOST_UNREAD:
            self._room.clear()
            await self._room.wait()
        self._told.append(event)
        self._news.set()

    async def events(self) -> AsyncGenerator[AgentEvent | KeepAlive]:
        """Yield what the agent tells, as it comes; raises what the work ended with.

        Closing it, or cancelling who reads it, stops the work.
        """
        try:
            while not (self.task.done() and not self._told):
                yield await self._next()
            self.outcome()
        except _Ended:
            self.outcome()
        finally:
            self.stop(Stop.LEFT)

    def outcome(self) -> Outcome:
        """Return what the work came to, once the events are read; raises what it ended with."""
        result = self._result
        if isinstance(result, MemoryServerError):
            raise result
        assert result is not None, "only asked when the work is over"
        return result

    async def _next(self) -> AgentEvent | KeepAlive:
        if not self._told:
            await self._wait_for_news()
        if self._told:
            self._room.set()
            return self._told.popleft()
        if self.task.done():
            raise _Ended
        return KeepAlive()

    async def _wait_for_news(self) -> None:
        """Return when there is something to read, when the work is over, or after a silence."""
        self._news.clear()
        if self.task.done():
            return
        news = asyncio.ensure_future(self._news.wait())
        silence = asyncio.ensure_future(self._clock.sleep(self._limits.silence))
        try:
            await asyncio.wait({news, silence}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            silence.cancel()

    async def _run(self, work: "Callable[[AgentRun[Outcome]], Awaitable[Outcome]]") -> None:
        timer = asyncio.ensure_future(self._clock.sleep(self._limits.whole))
        timer.add_done_callback(self._time_is_over)
        try:
            self._result = await work(self)
        except MemoryServerError as failure:
            self._result = failure
        except asyncio.CancelledError:
            self._result = self._why_stopped()
        except Exception as failure:  # a fault of ours is told like any other, with its traceback
            logger.exception("execution %s failed on a fault of the program", self.execution.id)
            self._result = MemoryServerError(f"the invocation failed ({type(failure).__name__})")
        finally:
            timer.cancel()
            # Whatever stops the work meanwhile, its end is noted.
            await asyncio.shield(asyncio.ensure_future(self._finish()))

    async def _finish(self) -> None:
        failed = self._result if isinstance(self._result, MemoryServerError) else None
        status = ExecutionStatus.COMPLETED if failed is None else ExecutionStatus.FAILED
        if isinstance(failed, ExecutionCancelled):
            status = ExecutionStatus.CANCELLED
        code = None if failed is None else failed.code
        await self._executions.settle(self.execution.id, status, error_code=code)

    def _time_is_over(self, timer: "asyncio.Future[None]") -> None:
        if not timer.cancelled():
            self.stop(Stop.TIMED_OUT)

    def _why_stopped(self) -> MemoryServerError:
        reason = self.stopped or Stop.SHUTDOWN
        if reason is Stop.TIMED_OUT:
            return AgentTimedOut(
                f"the agent did not answer within {self._limits.whole:g} seconds and was stopped"
            )
        return ExecutionCancelled(f"execution {self.execution.id} was stopped: {reason.value}")


class _Ended(Exception):
    """There is nothing more to read."""
