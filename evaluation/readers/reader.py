"""What a reader is: a question and what was found in, an answer out."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from evaluation.records import FoundItem

NOT_MENTIONED = "Not mentioned"
"""What is answered where nothing found holds an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer and what it cost."""

    answer: str
    tokens_in: int = 0
    tokens_out: int = 0


class Reader(Protocol):
    """Answers a question from what a search brought, and from nothing else."""

    @property
    @abstractmethod
    def name(self) -> str:
        """`extractive`, or provider and model."""
        ...

    @property
    @abstractmethod
    def prompt(self) -> str:
        """Name of the prompt; empty where there is none."""
        ...

    @property
    @abstractmethod
    def digest(self) -> str:
        """Digest of the prompt, or of the rules' version: answers of two digests are two rows."""
        ...

    @abstractmethod
    async def read(
        self, question: str, found: Sequence[FoundItem], *, asked_at: datetime | None
    ) -> Reading:
        """Answer from what was found, best first. Raises a `ProviderError` where it cannot.

        It sees the question's text and date, never its category or what is right.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let connections go."""
        ...
