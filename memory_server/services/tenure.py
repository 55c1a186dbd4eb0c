"""The time in which some services serve: their background work, and the requests on them."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Generic, TypeVar

R = TypeVar("R")

logger = logging.getLogger(__name__)


class Pin(Generic[R]):
    """A request's hold on the services it began on."""

    def __init__(self, release: R, on_end: Callable[[], None]) -> None:
        self.release = release
        self._on_end: Callable[[], None] | None = on_end

    def end(self) -> None:
        """Let go; once is enough."""
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()


class Tenure(Generic[R]):
    """Services from when they begin to serve until nothing of theirs goes on."""

    def __init__(self, release: R, *, since: datetime) -> None:
        self.release = release
        self.since = since
        self._requests = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._stopping = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    def pin(self) -> Pin[R]:
        """Count a request in; it is counted out when its pin ends."""
        self._requests += 1
        self._quiet.clear()
        return Pin(self.release, self._count_out)

    def begin(self, work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
        """Start the background work."""
        self._work = asyncio.create_task(work(self._stopping), name="background work")
        self._work.add_done_callback(_report)

    async def end_work(self, seconds: float) -> None:
        """End the background work: asked first, cut off after that time.

        Jobs that are cut off are put back for others.
        """
        self._stopping.set()
        if self._work is None:
            return
        await asyncio.wait({self._work}, timeout=seconds)
        self._work.cancel()
        await asyncio.wait({self._work})

    async def quiet(self) -> None:
        """Return once no request is served."""
        await self._quiet.wait()

    def _count_out(self) -> None:
        self._requests -= 1
        if not self._requests:
            self._quiet.set()


def _report(work: "asyncio.Task[None]") -> None:
    if not work.cancelled() and (error := work.exception()) is not None:
        logger.error("the background work ended; the server is not ready any more", exc_info=error)
