"""How often credentials may be tried."""

from collections import OrderedDict
from datetime import timedelta

from memory_server.errors import RateLimited
from memory_server.ports.clock import Clock

MOST_KEYS = 10_000
"""Names and addresses remembered at most; the ones asked about longest ago are forgotten."""


class Attempts:
    """Counts attempts by key in a window that slides, and refuses those beyond a number."""

    def __init__(self, *, clock: Clock, what: str, most: int, window: timedelta) -> None:
        self._clock = clock
        self._what = what
        self._most = most
        self._window = window
        self._made: OrderedDict[str, list[float]] = OrderedDict()

    def count(self, key: str) -> None:
        """Note an attempt; raise `RateLimited`, naming the limit and the wait, if it is too many.

        Counted before it is made, so that attempts made at once do not pass together.
        """
        now = self._clock.now().timestamp()
        made = self._recent(key, now)
        if len(made) >= self._most:
            seconds = self._window.total_seconds()
            raise RateLimited(
                f"too many {self._what}: {self._most} in {seconds:g} seconds are the most",
                retry_after=max(made[0] + seconds - now, 1.0),
            )
        self._made[key] = [*made, now]
        self._made.move_to_end(key)
        while len(self._made) > MOST_KEYS:
            self._made.popitem(last=False)

    def forgive(self, key: str) -> None:
        """Take the last attempt back: it was a good one."""
        made = self._made.get(key)
        if made:
            made.pop()

    def _recent(self, key: str, now: float) -> list[float]:
        since = now - self._window.total_seconds()
        return [moment for moment in self._made.get(key, ()) if moment > since]
