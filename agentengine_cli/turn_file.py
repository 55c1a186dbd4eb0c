"""A file of turns, one JSON object a line: checked whole, then read session by session.

The first pass keeps no turn, only where each one stands, so that the size of the file does not
matter; a session's turns may be scattered over it.
"""

import hashlib
import json
import shutil
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from agentengine_cli.errors import CliError
from agentengine_cli.turn_line import BadLine, ImportedTurn, parse_line

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_PROBLEMS = 20
_BOM = b"\xef\xbb\xbf"


class InvalidTurnFile(CliError):
    """Some lines are not turns; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where one session's turns stand, in order."""

    offsets: "array[int]" = field(default_factory=lambda: array("Q"))
    lines: "array[int]" = field(default_factory=lambda: array("Q"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a checked file holds."""

    sessions: dict[str, Places]
    """By session id, in the order of their first turns."""
    conversations: frozenset[tuple[str, str]]
    """User and session id: an id that two users share is a session of each."""

    @property
    def users(self) -> frozenset[str]:
        """Whose turns there are."""
        return frozenset(user_id for user_id, _ in self.conversations)

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return sum(len(places.lines) for places in self.sessions.values())


@dataclass(frozen=True, slots=True)
class NumberedTurn:
    """A turn, its line, and the key under which the server keeps it once."""

    line: int
    turn: ImportedTurn
    key: str


@contextmanager
def open_turns(path: str, standard_input: BinaryIO) -> Iterator["TurnFile"]:
    """Open the file, or standard input for `-`; what cannot be read twice is copied first."""
    if path == "-":
        with _copied(standard_input) as copy:
            yield TurnFile(copy, "standard input")
        return
    with Path(path).open("rb") as stream:
        if stream.seekable():
            yield TurnFile(stream, path)
            return
        with _copied(stream) as copy:
            yield TurnFile(copy, path)


@contextmanager
def _copied(stream: BinaryIO) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy


class TurnFile:
    """A file of turns that can be read at any place."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self.name = name

    @property
    def stream(self) -> BinaryIO:
        """The file itself, at its beginning."""
        self._stream.seek(0)
        return self._stream

    def first_line(self) -> bytes:
        """Return how the file begins."""
        line = self.stream.readline(MAX_LINE_BYTES)
        self._stream.seek(0)
        return line

    def check(self) -> Plan:
        """Read the whole file; raise `InvalidTurnFile` with every problem, twenty at most."""
        sessions: dict[str, Places] = {}
        conversations: set[tuple[str, str]] = set()
        problems: list[str] = []
        count = 0
        for line, offset, raw in self._lines():
            try:
                turn = _parsed(raw)
            except BadLine as bad:
                count += len(bad.complaints)
                problems += self._located(line, bad)[: MAX_PROBLEMS - len(problems)]
                continue
            places = sessions.setdefault(turn.session_id, Places())
            places.offsets.append(offset)
            places.lines.append(line)
            conversations.add((turn.user_id, turn.session_id))
        if problems:
            raise self._invalid(problems, count)
        return Plan(sessions=sessions, conversations=frozenset(conversations))

    def session(self, session_id: str, places: Places) -> Iterator[NumberedTurn]:
        """Yield a session's turns in order."""
        located = zip(places.lines, places.offsets, strict=True)
        for number, (line, offset) in enumerate(located, 1):
            self._stream.seek(offset)
            turn = self._again(line)
            if turn.session_id != session_id:
                raise self._changed(line)
            yield NumberedTurn(line, turn, turn.idempotency_key or _key(turn, number))

    def _again(self, line: int) -> ImportedTurn:
        try:
            return parse_line(self._stream.readline(MAX_LINE_BYTES + 1))
        except BadLine as bad:
            raise self._changed(line) from bad

    def _changed(self, line: int) -> CliError:
        return CliError(
            f"{self.name}:{line}: the file changed while it was read",
            hint="Run the command again when nothing writes to the file",
        )

    def _lines(self) -> Iterator[tuple[int, int, bytes | None]]:
        """Yield (number, offset, line) of the lines that are not blank; None for a huge one."""
        offset, number = 0, 0
        if self._stream.read(len(_BOM)) == _BOM:
            offset = len(_BOM)
        self._stream.seek(offset)
        while raw := self._stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            begin, offset = offset, offset + len(raw)
            if len(raw) > MAX_LINE_BYTES:
                offset += self._skip_rest(raw)
                yield number, begin, None
            elif raw.strip():
                yield number, begin, raw

    def _skip_rest(self, piece: bytes) -> int:
        skipped = 0
        while piece and not piece.endswith(b"\n"):
            piece = self._stream.readline(MAX_LINE_BYTES)
            skipped += len(piece)
        return skipped

    def _located(self, line: int, bad: BadLine) -> Sequence[str]:
        where = f"{self.name}:{line}"
        return [f"{where}: {key + ': ' if key else ''}{what}" for key, what in bad.complaints]

    def _invalid(self, problems: Sequence[str], count: int) -> InvalidTurnFile:
        more = count - len(problems)
        return InvalidTurnFile(
            f"{self.name} has {count} {'problem' if count == 1 else 'problems'}; nothing was sent",
            problems=[*problems, f"and {more} more"] if more else problems,
            hint="Each line is a JSON object with session_id, user_id, role and content",
        )


def _parsed(raw: bytes | None) -> ImportedTurn:
    if raw is None:
        raise BadLine([("", f"longer than {MAX_LINE_BYTES} bytes")])
    return parse_line(raw)


def _key(turn: ImportedTurn, number: int) -> str:
    """Return the same key for the same turn, wherever in whichever file it stands.

    `number` is its place in its session, which tells two equal utterances apart.
    """
    said = [
        turn.session_id,
        number,
        turn.user_id,
        turn.role,
        turn.content,
        dict(turn.metadata),
        dict(turn.more),
    ]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    return f"import:{digest.hexdigest()[:40]}"
