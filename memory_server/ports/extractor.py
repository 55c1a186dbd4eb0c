"""Turning conversations into proposed memories."""

from abc import abstractmethod
from typing import Protocol

from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.memory import MemoryType


class Extractor(Protocol):
    """Reads a conversation and proposes what to remember of it."""

    @abstractmethod
    def version(self, kind: MemoryType) -> str:
        """Return name and version of what reads that type, stored with every memory it made."""
        ...

    @abstractmethod
    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        """Return the candidates of one type; none is an honest answer.

        Raises a `ProviderError` when the conversation could not be read; its `retryable` tells
        whether the cause lies in the surroundings or in the content.
        """
        ...

    @abstractmethod
    async def check(self) -> None:
        """Return if extraction can work, else raise the `ProviderError` that says why not."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let resources go."""
        ...
