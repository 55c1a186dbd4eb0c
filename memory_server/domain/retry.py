"""When a failed job is tried again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from memory_server.errors import KeyMissing, KeyRejected, MemoryServerError, ProviderRateLimited


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a kind of failure is retried: `first` after the first attempt, then doubled."""

    first: timedelta
    longest: timedelta


_KEY = Pace(first=timedelta(minutes=2), longest=timedelta(minutes=30))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Decides between trying again and giving up.

    A failure of the surroundings is retried at the pace of its cause: a network comes back in
    seconds, a key in minutes. A failure of the content is not: it would fail the same way.
    """

    max_attempts: int = 8
    default: Pace = Pace(first=timedelta(seconds=2), longest=timedelta(minutes=5))
    paces: Mapping[type[MemoryServerError], Pace] = field(
        default_factory=lambda: {
            ProviderRateLimited: Pace(first=timedelta(seconds=15), longest=timedelta(minutes=10)),
            KeyRejected: _KEY,
            KeyMissing: _KEY,
        }
    )

    def delay(self, error: MemoryServerError, *, attempts: int) -> timedelta | None:
        """Return how long to wait after that many attempts, or None to give up.

        A provider that says when to come back (`retry_after`, in seconds) is waited for.
        """
        if not error.retryable or attempts >= self.max_attempts:
            return None
        pace = next((self.paces[kind] for kind in type(error).__mro__ if kind in self.paces), None)
        pace = pace or self.default
        backoff: timedelta = min(pace.first * 2 ** min(attempts - 1, 20), pace.longest)
        asked = error.details.get("retry_after")
        if isinstance(asked, int | float) and asked > 0:
            return max(backoff, timedelta(seconds=float(asked)))
        return backoff
