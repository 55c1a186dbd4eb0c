"""Reading an archive's file: checked whole, then portion by portion."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from memory_server.domain.archive import End, Head
from memory_server.domain.archive_lines import end_of, head_of, kind_of
from memory_server.domain.archive_lines import is_head as is_head
from memory_server.domain.limits import MAX_PORTION_BYTES
from memory_server.errors import InvalidArchive

MOST_ITEMS = 100
MOST_BYTES = 512 * 1024
"""What one request carries, unless one item is larger: others who write wait for it."""
END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An archive that is whole."""

    head: Head
    end: End

    @property
    def items(self) -> int:
        """How many there are."""
        return sum(self.end.counts.values())


@dataclass(frozen=True, slots=True)
class Portion:
    """What one request carries."""

    lines: bytes
    """The archive's first line, then items."""
    first_line: int
    """The number of the first item's line."""
    items: int


class ArchiveCheck:
    """Is given an archive in pieces, and says whether it is whole.

    Raises `InvalidArchive`, and `ArchiveTooNew`, as soon as something is wrong.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._number = 0
        self._digest = hashlib.sha256()
        self._counts: Counter[str] = Counter()
        self._head: Head | None = None
        self._end: End | None = None

    @property
    def items(self) -> int:
        """How many items there were so far."""
        return self._counts.total()

    def feed(self, piece: bytes) -> None:
        """Look at the next piece."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._look(line)
        if len(self._rest) > MAX_PORTION_BYTES:
            raise InvalidArchive(
                f"line {self._number + 1}: longer than {MAX_PORTION_BYTES} bytes, which no "
                "archive has"
            )

    def finish(self) -> Checked:
        """Return what the archive says of itself, or raise `InvalidArchive`: it was cut short."""
        if self._rest:
            self._look(self._rest)
            self._rest = b""
        if self._head is None:
            raise InvalidArchive("line 1: it is empty, and no archive")
        if self._end is None:
            raise InvalidArchive(
                f"line {self._number}: the archive was cut short after {self.items} items; "
                "export it again"
            )
        return Checked(head=self._head, end=self._end)

    def _look(self, line: bytes) -> None:
        self._number += 1
        where = f"line {self._number}"
        if self._end is not None:
            raise InvalidArchive(f"{where}: there is something after the end")
        if self._head is None:
            self._head = head_of(line)
        elif (kind := kind_of(line, where)) == END:
            self._end = self._confirmed(end_of(line, where), where)
        else:
            self._counts[kind] += 1
        self._digest.update(line + b"\n")

    def _confirmed(self, end: End, where: str) -> End:
        said = {kind: count for kind, count in end.counts.items() if count}
        if said != dict(self._counts):
            raise InvalidArchive(
                f"{where}: it says {said} items, and there are {dict(self._counts)}: lines were "
                "lost or added; export it again"
            )
        if end.digest != self._digest.hexdigest():
            raise InvalidArchive(
                f"{where}: the digest is another one: the archive was changed or damaged after it "
                "was written; export it again"
            )
        return end


def check(stream: BinaryIO) -> Checked:
    """Read a whole archive from its beginning; raises what `ArchiveCheck` does."""
    checking = ArchiveCheck()
    while piece := stream.read(MOST_BYTES):
        checking.feed(piece)
    return checking.finish()


def portions(stream: BinaryIO) -> Iterator[Portion]:
    """Yield a checked archive as requests, in order."""
    head = stream.readline()
    lines: list[bytes] = []
    size, first = 0, 2
    for number, line in enumerate(stream, 2):
        is_end = kind_of(line, f"line {number}") == END
        if lines and (is_end or len(lines) == MOST_ITEMS or size + len(line) > MOST_BYTES):
            yield Portion(head + b"".join(lines), first, len(lines))
            lines, size, first = [], 0, number
        if is_end:
            return
        lines.append(line)
        size += len(line)
