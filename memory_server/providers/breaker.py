"""The circuit breaker of one provider, shared by all of a server that call it."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory_server.domain.characters import whole
from memory_server.domain.circuit import Admission, Circuit, CircuitState, Opening
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import (
    KeyMissing,
    KeyRejected,
    MemoryServerError,
    ModelNotFound,
    ProviderError,
    ProviderRateLimited,
)
from memory_server.ports.breaker import Breaker
from memory_server.ports.clock import Clock

logger = logging.getLogger(__name__)

_GOES_ON = "nothing is lost and it goes on by itself"
_REMEDIES: Mapping[type[MemoryServerError], str] = {
    KeyMissing: "store the key (agentengine secret set NAME), then agentengine memory apply",
    KeyRejected: "store a valid key (agentengine secret set NAME), then agentengine memory apply",
    ModelNotFound: "name a model that it has, then agentengine memory configure and apply",
    ProviderRateLimited: f"{_GOES_ON}; fewer calls are made with memory.extraction.budget",
    ProviderError: f"{_GOES_ON}; if it lasts, look at the provider, and at base_url",
}
"""What to do, by the kind of failure: the first class that it is one of."""


class ProviderBreaker(Breaker):
    """A circuit that is told how calls went, by whoever made them."""

    def __init__(self, *, purpose: str, provider: str, clock: Clock, policy: RetryPolicy) -> None:
        """Join it; `purpose` is what the provider is for: `embedding` or `extraction`."""
        self._purpose = purpose
        self._provider = provider
        self._clock = clock
        self._policy = policy
        self._circuit = Circuit()

    def admit(self) -> Admission | None:
        self._circuit, admission = self._circuit.admit(self._clock.now())
        return admission

    def give_back(self, admission: Admission) -> None:
        if admission is Admission.PROBE:
            self._circuit = self._circuit.unused()

    def failed(self, error: MemoryServerError) -> None:
        """Note that a call failed."""
        before = self._circuit.opening
        self._circuit = self._circuit.failed(error, now=self._clock.now(), policy=self._policy)
        after = self._circuit.opening
        if after is not None and after is not before:
            logger.warning("%s %s", self._purpose, self.told())
        elif before is not None and after is None:
            self._log_closed()

    def worked(self) -> None:
        """Note that a call was answered."""
        was_open = self._circuit.opening is not None
        self._circuit = self._circuit.worked()
        if was_open:
            self._log_closed()

    def told(self) -> str | None:
        opening = self._circuit.opening
        if opening is None:
            return None
        return (
            f"provider {self._provider}: circuit open since {_clock_time(opening.since)}, "
            f"next probe {self._next(opening)}, because {_reason(opening)}; {_remedy(opening)}"
        )

    def report(self) -> Mapping[str, Any]:
        opening = self._circuit.opening
        if opening is None:
            return {}
        return {
            "state": self._circuit.state(self._clock.now()).value,
            "since": opening.since.isoformat(),
            "next_probe": opening.probe_at.isoformat(),
            "because": _reason(opening),
            "code": opening.cause.code,
            "to_do": _remedy(opening),
        }

    def _next(self, opening: Opening) -> str:
        if opening.is_probing:
            return "under way"
        is_due = self._circuit.state(self._clock.now()) is CircuitState.HALF_OPEN
        return "with the next call" if is_due else f"at {_clock_time(opening.probe_at)}"

    def _log_closed(self) -> None:
        logger.info("%s provider %s answers again: circuit closed", self._purpose, self._provider)


def _reason(opening: Opening) -> str:
    return whole(str(opening.cause)).rstrip(".")


def _remedy(opening: Opening) -> str:
    kinds = type(opening.cause).__mro__
    return next((_REMEDIES[kind] for kind in kinds if kind in _REMEDIES), _GOES_ON)


def _clock_time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
