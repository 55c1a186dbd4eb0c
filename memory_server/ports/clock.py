"""Where time and ids come from."""

from abc import abstractmethod
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time; tests turn its hands."""

    @abstractmethod
    def now(self) -> datetime:
        """Return the current moment, timezone-aware, in UTC."""
        ...

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock's time."""
        ...


class Ids(Protocol):
    """Makes ids that nobody else makes."""

    @abstractmethod
    def new(self) -> str:
        """Return a fresh id; ids made later sort after ids made earlier."""
        ...
