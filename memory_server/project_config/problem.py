"""What is wrong with a configuration, and where."""

from collections.abc import Iterable
from dataclasses import dataclass

from memory_server.errors import InvalidProjectConfig
from memory_server.project_config.credentials import is_safe_to_show

Steps = tuple[str | int, ...]
"""The way to a value from the top of the file: names and list positions (from 0)."""
Place = tuple[int, int]
"""Line and column, both from 1."""

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong; `str()` is one line, fit for an editor to jump from."""

    file: str | None = None
    """None when the document did not come from a file."""
    line: int | None = None
    column: int | None = None
    path: str
    """As `memory.extraction.enabled[0]`; empty when the file as a whole is meant."""
    message: str

    def __str__(self) -> str:
        """Return `file:line:column: path: message` without the parts that are not known."""
        place = (self.file, self.line, self.column)
        located = ":".join(_one_line(str(part)) for part in place if part is not None)
        return ": ".join(part for part in (located, self.path, self.message) if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem before it is known which file it is in."""

    steps: Steps
    message: str
    place: Place | None = None
    """Only where the file is known to be wrong elsewhere than at the value or key of `steps`."""
    at_key: bool = False
    """Whether the key is wrong, not its value."""


def dotted(steps: Steps) -> str:
    """Write a path for people; a name that may be a credential is not shown."""
    written = ""
    for step in steps:
        written += f"[{step}]" if isinstance(step, int) else f".{shown_name(step)}"
    return written.removeprefix(".")


def shown_name(name: str) -> str:
    """Return the name of a key if it is harmless to print, else a stand-in."""
    if not name:
        return "(empty name)"
    if len(name) > LONGEST_NAME or not name.isprintable():
        return "(unprintable name)"
    if not is_safe_to_show(name):
        return "(hidden name)"
    return name


def refuse(problems: Iterable[Problem]) -> InvalidProjectConfig:
    """Return the error that tells every problem, one a line."""
    every = tuple(problems)
    return InvalidProjectConfig("\n".join(map(str, every)), problems=every)


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
