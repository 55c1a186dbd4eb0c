"""One apply at a time, and how the last one went."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_server.domain.characters import whole
from memory_server.domain.deployment import Applied
from memory_server.errors import ApplyInProgress, MemoryServerError
from memory_server.ports.clock import Clock

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class LastApply:
    """How the last apply of this process went."""

    outcome: str
    """`applied` or `failed`."""
    at: datetime
    error: str | None = None


class Applies:
    """Lets one apply work at a time, to its end though whoever asked for it leaves."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._working: asyncio.Task[Applied] | None = None
        self.last: LastApply | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether an apply is at work."""
        return self._working is not None and not self._working.done()

    async def alone(self, work: Callable[[], Coroutine[Any, Any, Applied]]) -> Applied:
        """Return what it applied, or raise `ApplyInProgress` if another apply is at work."""
        if self.is_at_work:
            raise ApplyInProgress("another apply is at work; ask again when it has ended")
        self._working = asyncio.create_task(self._noted(work), name="apply")
        self._working.add_done_callback(_take_notice)
        return await asyncio.shield(self._working)

    def begin(self, work: Callable[[], Coroutine[Any, Any, Applied]]) -> None:
        """Do as `alone` and return at once; how it goes is told by `last` and the log."""
        if not self.is_at_work:
            self._working = asyncio.create_task(self._noted(work), name="follow")
            self._working.add_done_callback(_take_notice)

    async def end(self) -> None:
        """Cut off the one at work."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait({self._working})

    async def _noted(self, work: Callable[[], Coroutine[Any, Any, Applied]]) -> Applied:
        try:
            applied = await work()
        except MemoryServerError as error:
            self._note("failed", str(error))
            raise
        except Exception as error:
            logger.exception("an apply failed on a fault of the program")
            self._note("failed", f"{type(error).__name__}: see the log")
            raise
        if applied.applied:
            self._note("applied")
        return applied

    def _note(self, outcome: str, error: str | None = None) -> None:
        at = self._clock.now()
        self.last = LastApply(outcome=outcome, at=at, error=error and whole(error))


def _take_notice(task: "asyncio.Task[Applied]") -> None:
    """Look at how an apply ended whose caller has left, so that nothing complains."""
    if not task.cancelled():
        task.exception()
