"""The command line's only source of time."""

import time
from abc import abstractmethod
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        ...

    @abstractmethod
    def monotonic(self) -> float:
        """Return seconds that never run backwards, for time limits."""
        ...

    @abstractmethod
    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock(Clock):
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place that may ask the machine

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
