"""Attempts at the one process that has the store to itself.

In memory: every attempt passes here, and a restart forgives what was tried before it.
"""

from collections import OrderedDict
from datetime import datetime, timedelta

from memory_server.ports.attempts import Attempts

MOST_KEYS = 20_000
"""Names and addresses remembered at most; the ones asked about longest ago are forgotten."""


class ProcessAttempts(Attempts):
    """Attempts in the memory of this process, bounded."""

    def __init__(self, *, most_keys: int = MOST_KEYS) -> None:
        self._most_keys = most_keys
        self._made: OrderedDict[str, list[datetime]] = OrderedDict()

    async def count(
        self, key: str, *, most: int, window: timedelta, now: datetime
    ) -> datetime | None:
        made = [moment for moment in self._made.get(key, ()) if moment > now - window]
        if len(made) >= most:
            return made[0]
        self._made[key] = [*made, now]
        self._made.move_to_end(key)
        while len(self._made) > self._most_keys:
            self._made.popitem(last=False)
        return None

    async def forgive(self, key: str) -> None:
        made = self._made.get(key)
        if made:
            made.pop()

    async def forget(self, *, before: datetime) -> int:
        gone = [key for key, made in self._made.items() if not made or made[-1] < before]
        for key in gone:
            del self._made[key]
        return len(gone)
