"""Time and ids that tests decide on."""

import asyncio
from datetime import UTC, datetime, timedelta

from memory_server.ports.clock import Clock, Ids

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


class ManualClock(Clock):
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._sleepers: list[tuple[datetime, asyncio.Future[None]]] = []

    @property
    def sleepers(self) -> int:
        """How many wait for this clock to move."""
        return sum(not sleeper.done() for _, sleeper in self._sleepers)

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float = 0, *, by: timedelta = timedelta()) -> datetime:
        """Move the hands forward, wake who has slept long enough, and return the new time."""
        self._now += timedelta(seconds=seconds) + by
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self._now]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self._now]
        for _, sleeper in due:
            if not sleeper.done():
                sleeper.set_result(None)
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + timedelta(seconds=seconds), sleeper))
        await sleeper


class CountingIds(Ids):
    """Ids that count: id-000001, id-000002, ..."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count:06}"
