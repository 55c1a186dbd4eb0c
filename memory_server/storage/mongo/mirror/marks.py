"""What may have changed and is to be read again."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from memory_server.ports.clock import Clock


class Key(NamedTuple):
    """Names one document of the database."""

    collection: str
    project_id: str
    id: str


class Marks:
    """A queue in which each document waits once, numbered by when it was first marked.

    A mark says nothing of what the document became: whoever takes it reads what is stored then.
    So marks may come late, twice, or in another order than the changes.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._waiting: dict[Key, tuple[int, datetime]] = {}
        self._taken: dict[Key, tuple[int, datetime]] = {}

    def __len__(self) -> int:
        return len(self._waiting) + len(self._taken)

    @property
    def last(self) -> int:
        """The number of the last mark."""
        return self._last

    @property
    def settled(self) -> int:
        """The number up to which every mark is settled."""
        return self._before(self._taken or self._waiting)

    @property
    def settled_with_taken(self) -> int:
        """What `settled` will be once those that were taken are settled."""
        return self._before(self._waiting)

    @property
    def oldest(self) -> datetime | None:
        """Since when the one that waits longest has waited."""
        return next((at for _, at in (self._taken or self._waiting).values()), None)

    def add(self, keys: Iterable[Key]) -> None:
        """Mark documents."""
        now = self._clock.now()
        for key in keys:
            self._last += 1
            self._waiting.setdefault(key, (self._last, now))

    def take(self, limit: int) -> Sequence[Key]:
        """Return those that wait longest, until `settle` or `put_back`; nothing else is taken."""
        keys = list(self._waiting)[:limit] if limit < len(self._waiting) else list(self._waiting)
        self._taken = {key: self._waiting.pop(key) for key in keys}
        return keys

    def settle(self) -> None:
        """Note that what was taken is done."""
        self._taken = {}

    def put_back(self) -> None:
        """Let what was taken wait again, before all others."""
        newer = {key: mark for key, mark in self._waiting.items() if key not in self._taken}
        self._waiting, self._taken = {**self._taken, **newer}, {}

    def _before(self, marks: dict[Key, tuple[int, datetime]]) -> int:
        return next((number - 1 for number, _ in marks.values()), self._last)
