"""How often something was tried lately, counted over all servers."""

from abc import abstractmethod
from datetime import datetime, timedelta
from typing import Protocol


class Attempts(Protocol):
    """Counts attempts by key in a window that slides."""

    @abstractmethod
    async def count(
        self, key: str, *, most: int, window: timedelta, now: datetime
    ) -> datetime | None:
        """Note an attempt, unless `most` are noted within the window that ends now.

        Returns None if it was noted, else when the oldest of those was made. Attempts made at
        once are counted one by one.
        """
        ...

    @abstractmethod
    async def forgive(self, key: str) -> None:
        """Take the last attempt back; nothing happens where there is none."""
        ...

    @abstractmethod
    async def forget(self, *, before: datetime) -> int:
        """Forget the keys that nothing was noted for since a moment; return how many there were."""
        ...
