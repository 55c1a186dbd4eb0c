"""Means over questions, by category and over all, each with its number and interval."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from evaluation.metrics.intervals import Interval, bootstrap, cluster_bootstrap, wilson
from evaluation.records import QuestionRecord
from evaluation.report.measured import MACRO, MICRO, Figure, Measure


def average(
    system: str,
    measure: Measure,
    scores: Mapping[str, float],
    questions: Mapping[str, QuestionRecord],
) -> Iterator[Figure]:
    """Make the figures of one measure: micro, macro, and one for each category."""
    if not scores:
        return
    keys = sorted(scores)
    by_category: dict[str, list[float]] = {}
    for key in keys:
        by_category.setdefault(questions[key].category, []).append(scores[key])
    values = [scores[key] for key in keys]
    clusters = cluster_bootstrap(values, [questions[key].conversation for key in keys])
    yield _figure(system, measure, MICRO, values, clusters)
    means = [fmean(of_category) for of_category in by_category.values()]
    yield _bare(system, measure, MACRO, fmean(means), len(means))
    for category in sorted(by_category):
        yield _figure(system, measure, category, by_category[category])


def interval_of(values: Sequence[float]) -> Interval | None:
    """Interval of a mean: Wilson's where each value is 0 or 1, else by drawing.

    One value can be drawn in one way only, which tells nothing of how far it may be off: None.
    """
    if all(value in {0.0, 1.0} for value in values):
        return wilson(sum(values), len(values))
    return bootstrap(values) if len(values) > 1 else None


def _figure(
    system: str,
    measure: Measure,
    category: str,
    values: Sequence[float],
    clusters: Interval | None = None,
) -> Figure:
    interval = interval_of(values)
    return _bare(system, measure, category, fmean(values), len(values)).model_copy(
        update={
            "low": interval and interval.low,
            "high": interval and interval.high,
            "cluster_low": clusters and clusters.low,
            "cluster_high": clusters and clusters.high,
        }
    )


def _bare(system: str, measure: Measure, category: str, value: float, n: int) -> Figure:
    return Figure(
        system=system,
        measure=measure.label,
        name=measure.name,
        level=measure.level,
        k=measure.k,
        tokens=measure.tokens,
        category=category,
        value=value,
        n=n,
    )
