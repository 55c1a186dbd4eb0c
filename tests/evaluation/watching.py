"""Who is told how far a run is, and remembers it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Counted:
    """One stage's steps."""

    total: int
    done: int = 0

    def advance(self, steps: int = 1) -> None:
        self.done += steps


@dataclass
class Remembering:
    """What was told."""

    stages: dict[str, Counted] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def stage(self, name: str, total: int) -> Iterator[Counted]:
        self.stages[name] = Counted(total)
        yield self.stages[name]

    def note(self, text: str) -> None:
        self.notes.append(text)
