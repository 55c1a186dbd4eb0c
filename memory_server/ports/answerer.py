"""Answering a question from what is remembered."""

from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from memory_server.domain.chunk import Chunk
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Turn


class Answerer(Protocol):
    """The voice of the built-in agent."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What answers: a model's name, or `local`."""
        ...

    @abstractmethod
    def answer(
        self,
        message: str,
        *,
        context: str,
        chunks: Sequence[Chunk],
        recent: Sequence[Turn],
        past: PastQuestion | None = None,
    ) -> AsyncIterator[str]:
        """Yield the answer in pieces. Raises a `ProviderError` when there is none.

        `past`: that the message asks how things were, with what held then, which `context` tells
        too.
        """
        ...
