"""How services that serve are replaced by others without a pause."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Generic

from memory_server.ports.clock import Clock
from memory_server.services.release import R
from memory_server.services.tenure import Pin, Tenure

DRAIN_SECONDS = 20.0
"""How long replaced or stopping services may finish the jobs they have begun."""
QUIET_SECONDS = 10.0
"""How long new requests are held back at most until the begun ones have ended; only where the
embedding space changes, so that no vector of the old space comes after the switch."""
SHORT_DRAIN_SECONDS = 5.0
"""As `DRAIN_SECONDS`, while requests are held back."""


class Succession(Generic[R]):
    """The services that serve now, and those before them until nothing of theirs goes on."""

    def __init__(
        self,
        first: R,
        *,
        clock: Clock,
        on_switch: Callable[[R], None],
        drain_seconds: float = DRAIN_SECONDS,
        quiet_seconds: float = QUIET_SECONDS,
    ) -> None:
        """Prepare; `on_switch` is told who serves from now on, the first ones too."""
        self._clock = clock
        self._on_switch = on_switch
        self._drain_seconds = drain_seconds
        self._quiet_seconds = quiet_seconds
        self._tenure = Tenure(first, since=clock.now())
        self._open = asyncio.Event()
        self._open.set()
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def current(self) -> R:
        """The services that new requests are served by."""
        return self._tenure.release

    @property
    def since(self) -> datetime:
        """Since when."""
        return self._tenure.since

    async def pin(self, *, waits: bool) -> Pin[R]:
        """Return a hold on the services that serve now; with `waits`, not while held back."""
        if waits:
            await self._open.wait()
        return self._tenure.pin()

    async def begin_with(self, release: R) -> None:
        """Let others be the first: none has begun to work."""
        first = self.current
        self._tenure = Tenure(release, since=self._clock.now())
        await first.let_go(release)

    def begin(self) -> None:
        """Start the work of the first."""
        self._on_switch(self.current)
        self._tenure.begin(self.current.run)

    async def end_work(self) -> None:
        """End the work of those that serve; requests are served on."""
        await self._tenure.end_work(self._drain_seconds)

    async def end(self) -> None:
        """Cut off what those before still do."""
        for leaving in self._leaving:
            leaving.cancel()
        if self._leaving:
            await asyncio.wait(self._leaving)

    def hold_back(self) -> None:
        """Let new requests wait."""
        self._open.clear()

    def open(self) -> None:
        """Let requests go on."""
        self._open.set()

    async def stand_still(self) -> None:
        """Let everything end that could still write; `TimeoutError` if requests do not."""
        async with asyncio.timeout(self._quiet_seconds):
            await self._tenure.quiet()
        await self._tenure.end_work(SHORT_DRAIN_SECONDS)

    async def take_office(self, release: R) -> None:
        """Let a release serve from now on, and see off the one that did."""
        fresh = Tenure(release, since=self._clock.now())
        fresh.begin(release.run)
        try:
            await asyncio.sleep(0)  # its work begins, so that readiness never says otherwise
        except asyncio.CancelledError:
            await fresh.end_work(0)
            raise
        former, self._tenure = self._tenure, fresh
        self._on_switch(release)
        earlier = set(self._leaving)
        leaving = asyncio.create_task(self._see_off(former, release, earlier), name="see off")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def _see_off(
        self, former: Tenure[R], successor: R, earlier: set[asyncio.Task[None]]
    ) -> None:
        """End what went before; models go when no request uses them, in order of age."""
        try:
            await former.end_work(self._drain_seconds)
            await former.quiet()
            if earlier:
                await asyncio.wait(earlier)
        finally:
            await former.release.let_go(successor)
