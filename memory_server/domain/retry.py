"""When a failed job is tried again."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from memory_server.errors import (
    KeyMissing,
    KeyRejected,
    MemoryServerError,
    ModelNotFound,
    ProviderRateLimited,
    ProviderUnavailable,
    StorageError,
)

LONGEST_ASKED = timedelta(hours=1)
"""The longest wait that a provider is granted, whatever it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a kind of failure is retried: `first` after the first attempt, then doubled."""

    first: timedelta
    longest: timedelta
    patience: timedelta | None = None
    """How long it goes on at the least; None: as many attempts as the policy allows."""

    def wait(self, attempts: int) -> timedelta:
        """Return the wait after that many attempts."""
        doubled: timedelta = self.first * 2 ** min(attempts - 1, self._doublings)
        return min(doubled, self.longest)

    def waited(self, attempts: int) -> timedelta:
        """Return the sum of the waits between that many attempts."""
        growing = min(attempts - 1, self._doublings)
        doubled: timedelta = self.first * (2**growing - 1)
        return doubled + self.longest * max(attempts - 1 - growing, 0)

    @property
    def _doublings(self) -> int:
        """How many waits are shorter than the longest."""
        return max(math.ceil(math.log2(self.longest / self.first)), 0)


_DAY = timedelta(hours=24)
_OUTAGE = Pace(first=timedelta(seconds=2), longest=timedelta(minutes=5), patience=_DAY)
_KEY = Pace(first=timedelta(minutes=2), longest=timedelta(minutes=30), patience=_DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Decides between trying again and giving up.

    A failure of the surroundings is retried at the pace of its cause: a network comes back in
    seconds, a key in minutes, and either may be away for a night. A failure of the content is
    not: it would fail the same way. What fails for another reason that may pass, as when
    others keep writing the same memory, is tried `max_attempts` times.
    """

    max_attempts: int = 8
    default: Pace = Pace(first=timedelta(seconds=2), longest=timedelta(minutes=5))
    paces: Mapping[type[MemoryServerError], Pace] = field(
        default_factory=lambda: {
            ProviderUnavailable: _OUTAGE,
            StorageError: _OUTAGE,
            ProviderRateLimited: Pace(
                first=timedelta(seconds=15), longest=timedelta(minutes=10), patience=_DAY
            ),
            KeyRejected: _KEY,
            KeyMissing: _KEY,
            ModelNotFound: _KEY,
        }
    )

    def delay(
        self, error: MemoryServerError, *, attempts: int, age: timedelta = timedelta.max
    ) -> timedelta | None:
        """Return how long to wait after that many attempts, or None to give up.

        `age` is how long ago the job was made: neither a job that waited long for its first
        attempt nor one whose causes of failure changed is given up before its patience is over.
        A provider that says when to come back (`retry_after`, in seconds) is waited for, an
        hour at the most.
        """
        if not error.retryable:
            return None
        if self._is_over(self._pace(error), attempts, age):
            return None
        return self.wait(error, times=attempts)

    def wait(self, error: MemoryServerError, *, times: int) -> timedelta:
        """Return the wait after a failure that came so many times in a row."""
        asked = bounded_wait(error.details.get("retry_after"))
        return max(self._pace(error).wait(times), timedelta(seconds=asked or 0.0))

    def _pace(self, error: MemoryServerError) -> Pace:
        pace = next((self.paces[kind] for kind in type(error).__mro__ if kind in self.paces), None)
        return pace or self.default

    def _is_over(self, pace: Pace, attempts: int, age: timedelta) -> bool:
        if pace.patience is None:
            return attempts >= self.max_attempts
        return pace.waited(attempts) >= pace.patience and age >= pace.patience


def bounded_wait(asked: object) -> float | None:
    """Return the seconds that somebody asks to wait, 0 to an hour; None if that is no number."""
    if not isinstance(asked, int | float):
        return None
    seconds = float(max(min(asked, LONGEST_ASKED.total_seconds()), 0))
    return None if math.isnan(seconds) else seconds
