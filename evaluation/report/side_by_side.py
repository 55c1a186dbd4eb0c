"""Tables of paired differences, and of what could not be compared."""

from collections.abc import Iterator, Sequence

from evaluation.report.comparison import Comparison, Difference
from evaluation.report.labels import category_label, share
from evaluation.report.measured import MICRO, Measured
from evaluation.report.table import Table

_OVER_ALL = {"recall", "hit", "recall_all", "mrr", "f1_locomo", "j"}
_BY_CATEGORY = {"recall", "f1_locomo", "j"}


def compared_tables(
    measured: Measured, comparisons: Sequence[Comparison], refused: Sequence[str]
) -> Iterator[Table]:
    """Yield a table for each comparison; by category only at the k that is told of."""
    for comparison in comparisons:
        yield Table(
            title=f"{comparison.other} against {comparison.base}",
            columns=(
                *("measure", "category", "n", "base", "this", "difference [95 %]"),
                *("by conversation", "better / worse", "sure"),
            ),
            rows=[
                _row(measured, each) for each in comparison.differences if _is_told(measured, each)
            ],
        )
    if refused:
        yield Table(title="Not compared", columns=(), rows=(), notes=refused)


def _row(measured: Measured, each: Difference) -> Sequence[str]:
    return (
        each.measure,
        category_label(measured.manifest.dataset_name, each.category),
        str(each.n),
        share(each.base),
        share(each.other),
        f"{each.difference:+.3f} [{each.low:+.3f}, {each.high:+.3f}]",
        _clusters(each),
        f"{each.better} / {each.worse}",
        "yes" if each.is_sure else "no",
    )


def _clusters(each: Difference) -> str:
    if each.cluster_low is None or each.cluster_high is None:
        return "-"
    return f"[{each.cluster_low:+.3f}, {each.cluster_high:+.3f}]"


def _is_told(measured: Measured, each: Difference) -> bool:
    name, _, cutoff = each.measure.partition("@")
    if each.category == MICRO:
        return name in _OVER_ALL and cutoff in {"", *map(str, measured.cutoffs)}
    return name in _BY_CATEGORY and cutoff == str(measured.middle)
