"""The memory server's output, in logs/memory-server.log."""

import contextlib
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentengine_cli.control.clock import Clock

ROTATE_BYTES = 10 * 1024 * 1024
FOLLOW_SECONDS = 0.25
OF_AGENT = re.compile(r"\S+ \S+ [A-Z]+ agent(?:\.\w+)?: ")
"""How lines begin that an agent of the user's own wrote, or that tell of its processes."""
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFilter:
    """Which lines of the log are wanted; an unset condition lets everything pass."""

    pattern: re.Pattern[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    only_agent: bool = False

    def select(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the wanted lines; one without a time of its own belongs to the line above it."""
        moment: datetime | None = None
        for line in lines:
            moment = timestamp(line) or moment
            if self._in_time(moment) and self._is_wanted(line):
                yield line

    def _is_wanted(self, line: str) -> bool:
        if self.only_agent and not OF_AGENT.match(line):
            return False
        return self.pattern is None or self.pattern.search(line) is not None

    def _in_time(self, moment: datetime | None) -> bool:
        if moment is None:
            return self.since is None
        after = self.since is None or moment >= self.since
        return after and (self.until is None or moment <= self.until)


def timestamp(line: str) -> datetime | None:
    """Return the time a line carries near its start (ISO 8601; UTC when it names no zone)."""
    found = TIMESTAMP.search(line, 0, 80)
    if found is None:
        return None
    with contextlib.suppress(ValueError):
        moment = datetime.fromisoformat(found.group().replace(",", "."))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def rotate(path: Path) -> None:
    """Set a large log aside (`.1`, replacing the last one) so that it cannot grow for ever."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > ROTATE_BYTES:
            path.replace(path.with_name(path.name + ".1"))


def last_lines(
    path: Path,
    count: int,
    chosen: LineFilter | None = None,
    *,
    start: int = 0,
    end: int | None = None,
) -> list[str]:
    """Return the last wanted lines from byte `start` to `end`, oldest first; none without a log.

    `start` beyond the end means that the log was set aside since: then every line counts.
    """
    try:
        with path.open("rb") as file:
            file.seek(start if start <= size(path) else 0)
            lines = (
                line.decode("utf-8", "replace").rstrip("\r\n")
                for line in file
                if end is None or file.tell() <= end
            )
            return list(deque((chosen or LineFilter()).select(lines), maxlen=count))
    except FileNotFoundError:
        return []


def follow(path: Path, clock: Clock, *, start: int) -> Iterator[str]:
    """Yield whole lines appended after byte `start`, for ever; survives rotation."""
    position, partial = start, ""
    while True:
        size = path.stat().st_size if path.exists() else 0
        if size < position:
            position, partial = 0, ""
        if size > position:
            with path.open("rb") as file:
                file.seek(position)
                added = file.read()
            position += len(added)
            *lines, partial = (partial + added.decode("utf-8", "replace")).split("\n")
            yield from lines
        else:
            clock.sleep(FOLLOW_SECONDS)


def size(path: Path) -> int:
    """Return how long the log is, in bytes."""
    return path.stat().st_size if path.exists() else 0
