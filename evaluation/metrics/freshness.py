"""Whether what is true now comes before what was true once."""

from collections.abc import Set

from evaluation.metrics.retrieval import Ranking


def fresh_over_stale(ranking: Ranking, fresh: Set[str], stale: Set[str], k: int) -> float:
    """1 where the first k items bring something fresh before anything stale.

    Stale that is not found at all is as good as stale that comes later. An item that rests on both
    is no answer to which of them is true.
    """
    for units in ranking[:k]:
        if not stale.isdisjoint(units):
            return 0.0
        if not fresh.isdisjoint(units):
            return 1.0
    return 0.0
