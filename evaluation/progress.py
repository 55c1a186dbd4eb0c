"""How a run tells how far it is."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Protocol


class Progress(Protocol):
    """One stage's steps."""

    @abstractmethod
    def advance(self, steps: int = 1) -> None:
        """Count steps that are done."""
        ...


class Watcher(Protocol):
    """Who is told."""

    @abstractmethod
    def stage(self, name: str, total: int) -> AbstractContextManager[Progress]:
        """Open a stage of that many steps."""
        ...

    @abstractmethod
    def note(self, text: str) -> None:
        """Say what the reader of the figures should know."""
        ...
