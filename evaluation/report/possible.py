"""What can be measured at all, by name, so that a name that is none is refused before a run."""

from collections.abc import Iterator, Sequence

from evaluation.report import scores
from evaluation.report.measured import Measure

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens."""
CURVE = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
"""Every k that a curve is drawn through, as far as a search goes."""


def labels_of_searches(cutoffs: Sequence[int], depth: int) -> Sequence[str]:
    """Return the figures of a search that is cut at some k."""
    return [measure.label for measure in _of_searches(cutoffs, depth)]


def labels_of_answers(cutoffs: Sequence[int]) -> Sequence[str]:
    """Return the figures of answers from what was found within some k."""
    names = ("words", "declined", "f1_locomo", *scores.OVERLAPS)
    return [Measure(name, k=k).label for name in names for k in cutoffs]


def labels_of_judgements(cutoffs: Sequence[int]) -> Sequence[str]:
    """Return the figures of verdicts on such answers."""
    return [Measure(scores.J, k=k).label for k in cutoffs]


def _of_searches(cutoffs: Sequence[int], depth: int) -> Iterator[Measure]:
    for level in (scores.TURN, scores.EXCHANGE, scores.SESSION, scores.SESSION_OF_ITEMS):
        yield Measure("mrr", level)
        for name in (*scores.SHARES, *scores.GAINS):
            yield from (Measure(name, level, k) for k in cutoffs)
    for name in scores.SHARES:
        yield from (Measure(name, scores.TURN, k) for k in CURVE if k <= depth)
        yield from (Measure(name, scores.TURN, tokens=budget) for budget in BUDGETS)
    for name in ("fresh_over_stale", "gold_contained"):
        yield from (Measure(name, scores.TURN, k) for k in cutoffs)
