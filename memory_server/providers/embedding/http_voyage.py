"""Voyage's embeddings, at MongoDB's address for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from memory_server.domain.embedding import EmbeddingSpace, Purpose
from memory_server.providers.embedding.http_api import EmbeddingsApi, Limits

BASE_URL = "https://ai.mongodb.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Voyage(EmbeddingsApi):
    """`input`, `model`, `input_type`, `output_dimension`.

    Cutting off what is too long is asked not to happen: a text that is refused for its length
    is embedded in pieces instead.
    """

    provider = "Voyage"
    limits = Limits(texts=128, characters=200_000, characters_per_text=60_000)

    space: EmbeddingSpace
    key: str | None = field(repr=False)
    key_name: str | None = "VOYAGE_API_KEY"
    base_url: str = BASE_URL

    @property
    def key_hint(self) -> str:
        if self.base_url == BASE_URL:
            return (
                "ai.mongodb.com takes Atlas model API keys; keys made at voyageai.com work only "
                "with base_url: https://api.voyageai.com/v1."
            )
        return "A key belongs to one address: Atlas model API keys work only at ai.mongodb.com."

    def body(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, Any]:
        return {
            "input": list(texts),
            "model": self.space.model,
            "input_type": purpose.value,
            "output_dimension": self.space.dimension,
            "truncation": False,
        }

    def simplified(self, why: str) -> Self | None:
        return None
