"""Which figures are drawn, and how."""

from collections.abc import Iterator, Sequence

from evaluation.report.comparison import Comparison
from evaluation.report.labels import category_label
from evaluation.report.measured import MICRO, Figure, Measured, System
from evaluation.report.plots import (
    Bar,
    Delta,
    Group,
    Point,
    Series,
    Span,
    differences,
    groups,
    lines,
    spans,
)
from evaluation.report.scores import TURN

_DRAWN = 6
"""Systems in one plot; more are in the tables."""


def over_k(measured: Measured) -> Iterator[str]:
    """Draw recall by turn over k."""
    series = [
        Series(system.label, [_point(figure, figure.k) for figure in figures])
        for system in _searches(measured)
        if len(figures := _recalls(measured, system, by_tokens=False)) > 1
    ]
    if series:
        yield lines(series, about="Recall of evidence turns by k", x_label="k (items)")


def over_budget(measured: Measured) -> Iterator[str]:
    """Draw recall by turn over a budget of tokens."""
    series = [
        Series(system.label, [_point(figure, figure.tokens) for figure in figures])
        for system in _searches(measured)
        if len(figures := _recalls(measured, system, by_tokens=True)) > 1
    ]
    if series:
        yield lines(series, about="Recall of evidence turns by tokens", x_label="tokens of context")


def categories(measured: Measured) -> Iterator[str]:
    """Draw recall, F1 and J by category."""
    k = measured.middle
    for stage, name, about in (
        ("search", "recall", f"recall@{k} by category"),
        ("answer", "f1_locomo", f"F1 (LoCoMo) by category, answers from k={k}"),
        ("judge", "j", f"J by category, answers from k={k}"),
    ):
        found = {
            (figure.system, figure.category): figure
            for figure in measured.figures
            if (figure.name, figure.k) == (name, k) and figure.level in {"", TURN}
        }
        systems = [each for each in measured.systems if each.stage == stage][:_DRAWN]
        drawn = list(_groups(measured, systems, found))
        if drawn:
            yield groups(drawn, about=about)


def comparisons(measured: Measured, given: Sequence[Comparison]) -> Iterator[str]:
    """Draw differences in recall, F1 and J at the k told of, with the wider of their intervals."""
    names = {f"{name}@{measured.middle}" for name in ("recall", "f1_locomo", "j")}
    for comparison in given:
        deltas = [
            Delta(
                f"{each.measure}, {_short(measured, each.category)}",
                each.difference,
                min(each.low, each.low if each.cluster_low is None else each.cluster_low),
                max(each.high, each.high if each.cluster_high is None else each.cluster_high),
            )
            for each in comparison.differences
            if each.measure in names
        ]
        if deltas:
            yield differences(deltas, about=f"{comparison.other} less {comparison.base}")


def latencies(measured: Measured) -> Iterator[str]:
    """Draw percentiles of each stage of recording and searching, with caches warm and cold."""
    labels = {system.key: system.label for system in measured.systems}
    calls = {system.key for system in measured.systems if system.stage != "search"}
    keys = dict.fromkeys(each.system for each in measured.latencies if each.system not in calls)
    for key in keys:
        given = [
            Span(_stage(each.stage, each.warmth), each.p50, each.p95, each.p99)
            for each in measured.latencies
            if each.system == key and each.p99 > 0
        ]
        if given:
            yield spans(given, about=f"Milliseconds by stage: {labels.get(key, key)}")


def _searches(measured: Measured) -> Sequence[System]:
    return [each for each in measured.systems if each.stage == "search"][:_DRAWN]


def _recalls(measured: Measured, system: System, *, by_tokens: bool) -> Sequence[Figure]:
    found = [
        figure
        for figure in measured.figures
        if (figure.system, figure.name, figure.level, figure.category)
        == (system.key, "recall", TURN, MICRO)
        and (figure.tokens is not None) == by_tokens
    ]
    return sorted(found, key=lambda figure: figure.tokens or figure.k or 0)


def _point(figure: Figure, x: int | None) -> Point:
    return Point(float(x or 0), figure.value, figure.low, figure.high)


def _groups(
    measured: Measured, systems: Sequence[System], found: dict[tuple[str, str], Figure]
) -> Iterator[Group]:
    for category in (*measured.categories, MICRO):
        bars = [
            Bar(system.label, figure.value, figure.low, figure.high)
            for system in systems
            if (figure := found.get((system.key, category)))
        ]
        if bars:
            yield Group(_short(measured, category), bars)


def _short(measured: Measured, category: str) -> str:
    return category_label(measured.manifest.dataset_name, category).partition(" (")[0]


def _stage(stage: str, warmth: str) -> str:
    return stage if warmth == "all" else f"{stage}, {warmth}"
