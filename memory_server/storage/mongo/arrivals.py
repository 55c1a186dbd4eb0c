"""Numbers that tell in which order things arrived, by the time at which they did."""

from memory_server.domain.moments import to_micros
from memory_server.ports.clock import Clock


class Arrivals:
    """Microseconds since 1970, no two of one server alike and each later than those before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next(self) -> int:
        """Return the number of what arrives now."""
        self._last = max(self._last + 1, to_micros(self._clock.now()))
        return self._last
