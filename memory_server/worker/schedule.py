"""What happens by the clock: promotion, expiry, late embedding."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from memory_server.errors import MemoryServerError
from memory_server.ports.clock import Clock
from memory_server.services.containment import contained

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """Something done again and again."""

    name: str
    every: timedelta
    act: Callable[[], Awaitable[None]]


class Schedule:
    """Runs each duty by its period; one that fails is told and tried again next time."""

    def __init__(self, *, clock: Clock, duties: list[Duty]) -> None:
        self._clock = clock
        self._duties = duties
        self._early: dict[str, asyncio.Event] = {duty.name: asyncio.Event() for duty in duties}
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Run all duties until ended."""
        if self._running is None:
            self._running = asyncio.create_task(self.run(), name="duties")

    async def end(self) -> None:
        """Stop, and return when what was begun has ended."""
        self.stop()
        if self._running is not None:
            await asyncio.wait({self._running})

    def hurry(self, name: str) -> None:
        """Run that duty soon: after a tenth of its period at the most.

        Nothing happens where it is another server's.
        """
        if (early := self._early.get(name)) is not None:
            early.set()

    def stop(self) -> None:
        """Begin nothing more; `run` returns when what was begun has ended."""
        self._stopping.set()
        for event in self._early.values():
            event.set()

    async def run(self) -> None:
        """Run all duties until stopped."""
        async with asyncio.TaskGroup() as running:
            for duty in self._duties:
                running.create_task(self._repeat(duty))

    async def _repeat(self, duty: Duty) -> None:
        while not self._stopping.is_set():
            await self._once(duty)
            await self._pause(duty)

    async def _once(self, duty: Duty) -> None:
        try:
            await contained(duty.act())
        except MemoryServerError as error:
            logger.warning("%s did not work and is tried again: %s", duty.name, error)
        except Exception:  # a fault in one duty must end neither it nor the others
            logger.exception("%s failed on a fault of the program", duty.name)

    async def _pause(self, duty: Duty) -> None:
        """Wait for the period to pass, or a tenth of it when hurried: bursts make one round."""
        seconds = duty.every.total_seconds()
        early = self._early[duty.name]
        await self._clock_or(self._stopping, seconds / 10)
        if not early.is_set():
            await self._clock_or(early, seconds * 0.9)
        early.clear()

    async def _clock_or(self, event: asyncio.Event, seconds: float) -> None:
        """Return when the event is set or that much time has passed."""
        waits = [asyncio.create_task(event.wait()), asyncio.create_task(self._clock.sleep(seconds))]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
