"""Figures that have to be reached for a run to pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.report.measured import MICRO, Figure, Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A figure below what was asked for, or one that was not measured."""

    name: str
    wanted: float
    figure: Figure | None = None
    """None: there is none, so that it cannot be said to be reached."""
    system: str = ""
    """Its system's label."""
    categories: Sequence[str] = ()
    """Those that its measure has, where there is none of the one that was asked for."""

    def __str__(self) -> str:
        if self.figure is None:
            there = f": its categories are {', '.join(self.categories)}" if self.categories else ""
            return f"{self.name} was not measured{there}"
        of = f"category {self.figure.category}, " if self.figure.category != MICRO else ""
        return (
            f"{self.figure.measure} is {self.figure.value:.4f} (n={self.figure.n}, "
            f"{of}{self.system}), and should be at least {self.wanted:g}"
        )


def missed(
    measured: Measured, wanted: Mapping[str, float], systems: Sequence[str]
) -> Sequence[Missed]:
    """Return which figures of these systems, by key, are below what was asked for.

    A name is that of a measure, as `recall@10` or `session.hit@5`; `recall@10/2` is of category 2.
    """
    return [
        below for name, value in wanted.items() for below in _below(measured, name, value, systems)
    ]


def _below(measured: Measured, name: str, value: float, systems: Sequence[str]) -> Iterator[Missed]:
    measure, _, category = name.partition("/")
    of_measure = [
        figure
        for figure in measured.figures
        if figure.measure == measure and figure.system in systems
    ]
    found = [figure for figure in of_measure if figure.category == (category or MICRO)]
    if not found:
        there = sorted({figure.category for figure in of_measure} - {MICRO})
        yield Missed(name=name, wanted=value, categories=there)
    for figure in found:
        if figure.value < value:
            label = measured.system(figure.system).label
            yield Missed(name=name, wanted=value, figure=figure, system=label)
