"""How often something may happen: a bucket that fills steadily and is drawn from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many a second, and so many at once."""

    a_second: float
    burst: float

    def times(self, factor: float) -> "Rate":
        """Return a rate that much as high."""
        return Rate(a_second=self.a_second * factor, burst=self.burst * factor)

    def __str__(self) -> str:
        return f"{self.a_second:g} a second and {self.burst:g} at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """What was left at a moment, in seconds of any clock that only goes forward.

    Below nothing when more was drawn than there was, for moments to come.
    """

    left: float
    at: float

    @classmethod
    def full(cls, rate: Rate, now: float) -> "Bucket":
        """Return a bucket nobody has drawn from."""
        return cls(left=rate.burst, at=now)

    def filled(self, rate: Rate, now: float) -> "Bucket":
        """Return what the bucket holds at a later moment."""
        gained = max(now - self.at, 0.0) * rate.a_second
        return Bucket(left=min(rate.burst, self.left + gained), at=now)

    def drawn(self) -> "Bucket":
        """Return the bucket with one fewer."""
        return Bucket(left=self.left - 1, at=self.at)

    def wait(self, rate: Rate) -> float:
        """Return how many seconds until one can be drawn; 0 if now."""
        return max(1 - self.left, 0.0) / rate.a_second
