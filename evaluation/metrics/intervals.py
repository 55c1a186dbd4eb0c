"""How far a figure may be from what more questions would have given, at 95 %."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

DRAWS = 1000
SEED = 20_231
_Z = 1.959963984540054
_Counts = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Interval:
    """Lowest and highest value that the data bear."""

    low: float
    high: float


def wilson(successes: float, n: int) -> Interval:
    """Interval of a share of n yes-or-no outcomes (Wilson's score, without correction)."""
    if n == 0:
        raise ValueError("no interval without outcomes")
    share = successes / n
    center = (share + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
    spread = share * (1 - share) / n + _Z * _Z / (4 * n * n)
    half = _Z * math.sqrt(spread) / (1 + _Z * _Z / n)
    return Interval(max(0.0, center - half), min(1.0, center + half))


def bootstrap(values: Sequence[float]) -> Interval:
    """Interval of a mean, by drawing the same number of values again and again.

    For a paired comparison give the differences, question by question.
    """
    drawn = _draws(len(values)) @ np.asarray(values, dtype=np.float32) / len(values)
    return _middle(drawn)


def cluster_bootstrap(values: Sequence[float], clusters: Sequence[Hashable]) -> Interval | None:
    """Interval of a mean, by drawing whole clusters (conversations) with all their values.

    Questions about one conversation stand or fall together, which `bootstrap` does not know. None
    where there are fewer than two clusters: they tell nothing of another one.
    """
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    if len(names) < 2:
        return None
    places = np.asarray([names[name] for name in clusters])
    sums = np.bincount(places, weights=np.asarray(values, dtype=np.float64), minlength=len(names))
    counts = np.bincount(places, minlength=len(names))
    draws = _draws(len(names))
    return _middle((draws @ sums) / (draws @ counts))


@lru_cache(maxsize=16)
def _draws(n: int) -> _Counts:
    """How often each of n values is drawn in each of the draws; always the same for one n."""
    random = np.random.default_rng([SEED, n])
    drawn: _Counts = random.multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(np.float32)
    return drawn


def _middle(drawn: npt.NDArray[Any]) -> Interval:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(float(low), float(high))
