"""The database's time: servers whose own clocks differ agree on it."""

from datetime import datetime, timedelta

from memory_server.ports.clock import Clock

_RESOLUTION = timedelta(milliseconds=1)
"""Of what the database tells."""


class DatabaseClock(Clock):
    """The clock of this machine, put right by what the database said last.

    Leases are compared by whichever server looks at them, so all must tell the same time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = timedelta()

    @property
    def ahead(self) -> timedelta:
        """How far the database is ahead of this machine; negative: behind."""
        return self._ahead

    def now(self) -> datetime:
        return self._clock.now() + self._ahead

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    def compare(self, *, asked: datetime, told: datetime, answered: datetime) -> None:
        """Take over what the database told between two moments of this machine's own clock.

        What may as well come from the way there and back changes nothing: time is not to jump.
        """
        doubt = (answered - asked) / 2
        ahead = told - (asked + doubt)
        if abs(ahead - self._ahead) > doubt + _RESOLUTION:
            self._ahead = ahead

    def own(self) -> datetime:
        """Return what this machine's own clock says."""
        return self._clock.now()
