"""How much of what a question needs was found, and how early.

A ranking is a list of items, each the set of units (turns, exchanges or sessions) that it brings:
one for a turn, two for an exchange, any number for a memory that rests on several turns.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence, Set

Ranking = Sequence[Collection[str]]
Discount = Callable[[int], float]


def recall(ranking: Ranking, gold: Set[str], k: int) -> float:
    """Share of the gold that the first k items bring."""
    return len(_brought(ranking, k) & _some(gold)) / len(gold)


def hit(ranking: Ranking, gold: Set[str], k: int) -> float:
    """1 where the first k items bring any of the gold (recall_any of LongMemEval)."""
    return float(not _some(gold).isdisjoint(_brought(ranking, k)))


def recall_all(ranking: Ranking, gold: Set[str], k: int) -> float:
    """1 where the first k items bring all of the gold (what LongMemEval calls recall)."""
    return float(_some(gold) <= _brought(ranking, k))


def reciprocal_rank(ranking: Ranking, gold: Set[str]) -> float:
    """1 / rank of the first item that brings any of the gold; 0 where none does."""
    return next((1 / rank for rank, units in _ranked(ranking) if not gold.isdisjoint(units)), 0.0)


def ndcg(ranking: Ranking, gold: Set[str], k: int) -> float:
    """Discounted gain of the first k items by that of the best order, in 0..1.

    An item counts once, where it brings gold that no item before it brought. Gold that one item
    brings together counts as one in the best order too, so that an exchange of two gold turns in
    first place is worth 1.
    """
    return _gain(ranking, gold, k, _standard_discount)


def ndcg_lme(ranking: Ranking, gold: Set[str], k: int) -> float:
    """As `ndcg`, with LongMemEval's discount, which leaves the second place undiscounted."""
    return _gain(ranking, gold, k, _lme_discount)


def first_places(ranking: Ranking) -> Ranking:
    """Each unit once, by the first item that brings it, in order.

    Cut at k this is the first k distinct sessions of a ranking of turns: LongMemEval's enlargement
    of k until k sessions are covered.
    """
    seen = dict.fromkeys(unit for units in ranking for unit in units)
    return [(unit,) for unit in seen]


def _brought(ranking: Ranking, k: int) -> set[str]:
    return {unit for units in ranking[:k] for unit in units}


def _some(gold: Set[str]) -> Set[str]:
    if not gold:
        raise ValueError("retrieval is not defined without gold: leave the question out and say so")
    return gold


def _ranked(ranking: Ranking) -> Iterable[tuple[int, Collection[str]]]:
    return enumerate(ranking, start=1)


def _gain(ranking: Ranking, gold: Set[str], k: int, discount: Discount) -> float:
    missing = set(_some(gold))
    places: list[int] = []
    for rank, units in _ranked(ranking):
        if not missing.isdisjoint(units):
            places.append(rank)
            missing.difference_update(units)
    best = range(1, min(k, len(places) + len(missing)) + 1)
    return sum(discount(rank) for rank in places if rank <= k) / sum(map(discount, best))


def _standard_discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _lme_discount(rank: int) -> float:
    return 1 / math.log2(max(2, rank))
