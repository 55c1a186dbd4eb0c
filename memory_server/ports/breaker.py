"""Whether a provider may be called now."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from memory_server.domain.circuit import Admission


class Breaker(Protocol):
    """Keeps background work from calling a provider that keeps failing."""

    @abstractmethod
    def admit(self) -> Admission | None:
        """Return how a call is let through, None if it has to wait.

        Whoever was let through gives the admission back when they are done.
        """
        ...

    @abstractmethod
    def give_back(self, admission: Admission) -> None:
        """Note that what was let through is over, whether it called or not."""
        ...

    @abstractmethod
    def told(self) -> str | None:
        """Say since when, why and until when nobody calls, and what to do; None: anybody may."""
        ...

    @abstractmethod
    def report(self) -> Mapping[str, Any]:
        """Return the same as readiness reports it; empty: anybody may call."""
        ...
