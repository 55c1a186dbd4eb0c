"""When a provider that keeps failing is left alone, and when it is tried again."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from memory_server.domain.retry import RetryPolicy, bounded_wait
from memory_server.errors import KeyMissing, KeyRejected, MemoryServerError, ModelNotFound

FAILURES = 5
"""How many failures of the surroundings in a row open a circuit."""
HOPELESS = (KeyRejected, KeyMissing, ModelNotFound)
"""Failures after which no other call would go better: one of them opens it."""


class Admission(StrEnum):
    """How a call is let through."""

    FREE = "free"
    PROBE = "probe"
    """It alone, to see whether the provider is back."""


class CircuitState(StrEnum):
    """Where a circuit stands."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    """One call is under way that decides, or the next one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """That a circuit is open: since when, why, and until when nobody calls."""

    since: datetime
    probe_at: datetime
    cause: MemoryServerError
    times: int = 1
    """How often it was opened without a call that went well in between."""
    is_probing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """The circuit breaker of a provider, as a value: what happens makes another one of it.

    A failure of the content says that the provider answers, and counts as a call that went well.
    """

    failures: int = 0
    """Of the surroundings, in a row."""
    opening: Opening | None = None

    def state(self, now: datetime) -> CircuitState:
        """Return where it stands."""
        if self.opening is None:
            return CircuitState.CLOSED
        is_due = self.opening.is_probing or now >= self.opening.probe_at
        return CircuitState.HALF_OPEN if is_due else CircuitState.OPEN

    def admit(self, now: datetime) -> tuple["Circuit", Admission | None]:
        """Return how a call is let through, None if it has to wait, and the circuit after that."""
        if self.opening is None:
            return self, Admission.FREE
        if self.opening.is_probing or now < self.opening.probe_at:
            return self, None
        return replace(self, opening=replace(self.opening, is_probing=True)), Admission.PROBE

    def unused(self) -> "Circuit":
        """Return it after a probe that called nobody; another one may."""
        if self.opening is None:
            return self
        return replace(self, opening=replace(self.opening, is_probing=False))

    def worked(self) -> "Circuit":
        """Return it after a call that was answered."""
        return Circuit()

    def failed(self, error: MemoryServerError, *, now: datetime, policy: RetryPolicy) -> "Circuit":
        """Return it after a call that failed; the pause is paced by the cause, as retries are.

        A provider that says when to come back is left alone until then.
        """
        if not error.retryable:
            return self.worked()
        failures = self.failures + 1
        if self.opening is None:
            is_enough = failures >= FAILURES or isinstance(error, HOPELESS) or _asks(error)
            opening = _opened(error, now, policy) if is_enough else None
            return Circuit(failures=failures, opening=opening)
        if not self.opening.is_probing:  # a call from before it was opened
            return self
        times = self.opening.times + 1
        again = _opened(error, now, policy, times=times)
        return Circuit(failures=failures, opening=replace(again, since=self.opening.since))


def _asks(error: MemoryServerError) -> bool:
    """Whether the provider says when to come back."""
    return bool(bounded_wait(error.details.get("retry_after")))


def _opened(
    error: MemoryServerError, now: datetime, policy: RetryPolicy, *, times: int = 1
) -> Opening:
    wait = policy.wait(error, times=times)
    return Opening(since=now, probe_at=now + wait, cause=error, times=times)
