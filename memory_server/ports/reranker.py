"""Putting what a search found into a better order."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """A model that reads the question and a text together."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What contexts report as their ranking strategy."""
        ...

    @property
    @abstractmethod
    def candidates(self) -> int:
        """The most texts that one call takes."""
        ...

    @property
    @abstractmethod
    def weight(self) -> float:
        """How much its word counts against the search's own scores, 0 to 1; by measurement."""
        ...

    @abstractmethod
    async def relevance(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Return how well each text answers the query, in the order of the texts.

        Higher is better, and numbers compare within one call only; None for a text it can say
        nothing of. A call that is cancelled ends soon. Failures raise a `ProviderError`.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let resources go."""
        ...
