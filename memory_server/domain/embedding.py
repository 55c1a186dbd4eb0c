"""Vectors and the spaces they live in."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Shape (dimension,), unit length."""


class Purpose(StrEnum):
    """What a text is embedded for; some models treat the two differently."""

    DOCUMENT = "document"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """A model's vectors; those of two spaces are never compared."""

    model: str
    dimension: int
    unrelated: float = 0.0
    """Cosine that unrelated texts typically have in this space."""
    same: float = 1.0
    """Cosine from which two texts typically say the same."""

    @property
    def name(self) -> str:
        """The name stored beside each vector."""
        return f"{self.model}@{self.dimension}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Vectors for a batch of texts; None for a text that cannot be embedded, with the reason."""

    vectors: Sequence[Vector | None]
    reasons: Sequence[str | None]
