"""Turning text into vectors."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from memory_server.domain.embedding import Embedded, EmbeddingSpace, Purpose


class Embedder(Protocol):
    """An embedding model."""

    @property
    @abstractmethod
    def space(self) -> EmbeddingSpace:
        """The space of its vectors."""
        ...

    @abstractmethod
    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Embedded:
        """Return one unit vector a text, in order; an empty batch gives an empty answer.

        A text that this model cannot embed (blank, refused) gets None and a reason and leaves
        the others alone. A text longer than the model takes is embedded in pieces, averaged.
        The same text always gets the same vector. Failures of the whole call (network, key,
        rate limit, wrong dimension) raise a `ProviderError`.
        """
        ...

    @abstractmethod
    async def check(self) -> None:
        """Return if the model can be used, else raise the `ProviderError` that says why not."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let resources go."""
        ...
