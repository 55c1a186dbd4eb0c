"""What came of all questions, as tables."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median

from benchmarks.ablation.asking import Outcome, Score
from benchmarks.ablation.steps import RECENCY, SHIPPED, Step
from evaluation.metrics.intervals import bootstrap
from memory_server.domain.relevance import CANDIDATES

K = 10
"""What categories and differences are told of."""


def lines_of(outcomes: Sequence[Outcome], steps: Sequence[Step]) -> Iterator[str]:
    """Yield a row for each step, then the ceiling, the questions of the present, and the times."""
    categories = sorted({one.category for one in outcomes})
    heads = ["step", "recall@5", "@10", "@20", "MRR", *(f"@10, cat. {one}" for one in categories)]
    yield _row([*heads, "@10 less shipped (95 %)", "ms"])
    yield _row(["---"] * (len(heads) + 2))
    for step in steps:
        yield _row(_cells(outcomes, step, categories))
    ceiling = [one.ceiling for one in outcomes]
    by_category = [
        f"category {name} {_share(fmean(one.ceiling for one in outcomes if one.category == name))}"
        for name in categories
    ]
    yield ""
    recalled = "; ".join([_share(fmean(ceiling)), *by_category])
    yield f"recall of the {CANDIDATES} candidates: {recalled}"
    yield from _of_the_present(outcomes, steps)
    yield from _times(outcomes)


def difference(outcomes: Sequence[Outcome], step: Step) -> str:
    """Return by how much a step's recall differs from the shipped one's, and how surely."""
    pairs = [(one.scores[step.name], one.scores[SHIPPED.name]) for one in outcomes]
    differences = [this.recall[K] - shipped.recall[K] for this, shipped in pairs]
    interval = bootstrap(differences)
    return f"{fmean(differences):+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"


def _cells(outcomes: Sequence[Outcome], step: Step, categories: Sequence[str]) -> Sequence[str]:
    def mean(of: Callable[[Score], float], category: str | None = None) -> str:
        some = [one for one in outcomes if category in (None, one.category)]
        return _share(fmean(of(one.scores[step.name]) for one in some))

    return [
        step.name,
        *(mean(lambda score, k=k: score.recall[k]) for k in (5, 10, 20)),  # type: ignore[misc]
        mean(lambda score: score.reciprocal),
        *(mean(lambda score: score.recall[K], name) for name in categories),
        "" if step is SHIPPED else difference(outcomes, step),
        f"{median(one.scores[step.name].milliseconds for one in outcomes):.1f}",
    ]


def _of_the_present(outcomes: Sequence[Outcome], steps: Sequence[Step]) -> Iterator[str]:
    asking = [one for one in outcomes if one.wants_present]
    said = f"{len(asking)} questions ask for the present"
    if asking and RECENCY in steps:
        said += f": {RECENCY.name}, recall@{K} of these {difference(asking, RECENCY)}"
    yield said


def _times(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield ""
    yield _row(["stage", "ms, p50"])
    yield _row(["---", "---"])
    for stage in outcomes[0].spent:
        yield _row([stage, f"{median(one.spent[stage] for one in outcomes):.2f}"])


def _share(value: float) -> str:
    return f"{value:.3f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
