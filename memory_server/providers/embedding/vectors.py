"""What every embedding adapter does with texts and numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memory_server.domain.embedding import Embedded, Vector

NOTHING_TO_EMBED = "nothing to embed"
"""The reason a blank text has no vector."""

UNUSABLE_NUMBERS = "the model answered with zero or non-finite numbers"


def unit(numbers: ArrayLike) -> Vector | None:
    """Return the numbers as a float32 vector of length one, or None if they have no direction."""
    wide = np.asarray(numbers, dtype=np.float64)
    largest = float(np.max(np.abs(wide)))
    if not np.isfinite(largest) or largest == 0.0:
        return None
    scaled = wide / largest  # or the squares of very large and very small numbers would be lost
    return np.asarray(scaled / np.linalg.norm(scaled), dtype=np.float32)


def mean_direction(vectors: Sequence[Vector]) -> Vector | None:
    """Return the unit vector of the mean of unit vectors: a long text from its pieces."""
    if len(vectors) == 1:
        return vectors[0]
    return unit(np.mean(np.stack(vectors).astype(np.float64), axis=0))


def readable(text: str) -> str:
    """Return the text without what cannot be written as UTF-8 (halves of surrogate pairs)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def embedded(outcomes: Sequence[Vector | str]) -> Embedded:
    """Gather the outcomes of a batch: a vector, or the reason why there is none."""
    return Embedded(
        vectors=[None if isinstance(outcome, str) else outcome for outcome in outcomes],
        reasons=[outcome if isinstance(outcome, str) else None for outcome in outcomes],
    )
