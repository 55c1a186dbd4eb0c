"""How often credentials may be tried."""

from datetime import timedelta

from memory_server.errors import RateLimited
from memory_server.ports.attempts import Attempts
from memory_server.ports.clock import Clock


class AttemptLimit:
    """Counts attempts by key in a window that slides, and refuses those beyond a number."""

    def __init__(
        self, *, attempts: Attempts, clock: Clock, what: str, most: int, window: timedelta
    ) -> None:
        """Prepare; `what` is counted apart from everything else, and named in a refusal."""
        self._attempts = attempts
        self._clock = clock
        self._what = what
        self._most = most
        self._window = window

    async def count(self, key: str) -> None:
        """Note an attempt; raise `RateLimited`, naming the limit and the wait, if it is too many.

        Counted before it is made, so that attempts made at once do not pass together.
        """
        now = self._clock.now()
        oldest = await self._attempts.count(
            self._named(key), most=self._most, window=self._window, now=now
        )
        if oldest is not None:
            seconds = self._window.total_seconds()
            raise RateLimited(
                f"too many {self._what}: {self._most} in {seconds:g} seconds are the most",
                retry_after=max((oldest + self._window - now).total_seconds(), 1.0),
            )

    async def forgive(self, key: str) -> None:
        """Take the last attempt back: it was a good one."""
        await self._attempts.forgive(self._named(key))

    def _named(self, key: str) -> str:
        return f"{self._what}: {key}"
