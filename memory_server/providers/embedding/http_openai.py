"""OpenAI's embeddings, and those of the many servers that speak the same protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.project_config import OPENAI_URL
from memory_server.providers.embedding.http_api import EmbeddingsApi, Limits

BASE_URL = OPENAI_URL


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAi(EmbeddingsApi):
    """`input`, `model`, `dimensions`; a model with one size only may refuse the last.

    Queries and documents are embedded alike. A server at another address may need no key.
    """

    provider = "The OpenAI-compatible embedding server"
    limits = Limits(texts=32, characters=100_000, characters_per_text=20_000)

    space: EmbeddingSpace
    key: str | None = field(repr=False)
    key_name: str | None = "OPENAI_API_KEY"
    base_url: str = BASE_URL
    sends_dimensions: bool = True

    @property
    def key_hint(self) -> str:
        return "A key belongs to one address: check base_url too."

    def body(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        body = {"input": list(texts), "model": self.space.model}
        return {**body, "dimensions": self.space.dimension} if self.sends_dimensions else body

    def simplified(self, why: str) -> Self | None:
        complains = "dimension" in why.casefold() or "matryoshka" in why.casefold()
        return (
            replace(self, sends_dimensions=False) if self.sends_dimensions and complains else None
        )
