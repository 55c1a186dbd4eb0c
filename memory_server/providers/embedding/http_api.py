"""What tells one embeddings API from another."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import httpx

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.errors import InvalidProjectConfig
from memory_server.providers.http_client import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much goes into one request; a provider that takes less is asked in smaller ones."""

    texts: int
    characters: int
    """Of all the texts of one request."""
    characters_per_text: int
    """A longer text is embedded in pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. A query has somebody waiting for it; documents have time."""

    connect: float = 5.0
    query: float = 10.0
    documents: float = 60.0

    def of(self, purpose: Purpose) -> float:
        """Return how long a whole request may take."""
        return self.query if purpose is Purpose.QUERY else self.documents


class EmbeddingsApi(Access, Protocol):
    """One provider's `POST {base_url}/embeddings`."""

    @property
    @abstractmethod
    def space(self) -> EmbeddingSpace:
        """The space of its vectors."""
        ...

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """How much goes into one request."""
        ...

    @abstractmethod
    def body(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        """Return the request's JSON document."""
        ...

    @abstractmethod
    def simplified(self, why: str) -> Self | None:
        """Return the API without the option a refusal complains about; None if it is not that."""
        ...


def checked_url(base_url: str) -> str:
    """Return the address, or raise `InvalidProjectConfig` if it is none."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise _not_an_address(str(error)) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise _not_an_address("it needs http:// or https:// and a host")
    return base_url.rstrip("/")


def _not_an_address(why: str) -> InvalidProjectConfig:
    # The address itself stays out of the message: it may carry a password.
    problem = f"memory.embedding.base_url is not a web address: {why}"
    return InvalidProjectConfig(problem, problems=[problem])
