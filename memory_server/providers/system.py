"""The machine's own clock and ids."""

import asyncio
import os
from datetime import UTC, datetime

from memory_server.ports.clock import Clock, Ids


class SystemClock(Clock):
    """Reads the machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place that asks the machine

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TimeOrderedIds(Ids):
    """Makes ids of 32 hex digits: 48 bits of milliseconds, then 80 random bits.

    The layout of UUID version 7 (RFC 9562) without its fixed bits: ids sort by time of making.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def new(self) -> str:
        milliseconds = int(self._clock.now().timestamp() * 1000)
        return f"{milliseconds:012x}{os.urandom(10).hex()}"
