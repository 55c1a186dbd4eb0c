"""Figures that have to be reached for a run to pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.errors import NotThere
from evaluation.report.measured import MICRO, Figure, Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A figure below what was asked for."""

    figure: Figure
    system: str
    """Its system's label."""
    wanted: float

    def __str__(self) -> str:
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
    Raises `NotThere` for a figure that none of them has.
    """
    return [
        below for name, value in wanted.items() for below in _below(measured, name, value, systems)
    ]


def _below(measured: Measured, name: str, value: float, systems: Sequence[str]) -> Iterator[Missed]:
    measure, _, category = name.partition("/")
    found = [
        figure
        for figure in measured.figures
        if figure.measure == measure
        and figure.category == (category or MICRO)
        and figure.system in systems
    ]
    if not found:
        there = sorted({one.measure for one in measured.figures if one.system in systems})
        raise NotThere(
            f"{name} was not measured, so it cannot be said whether it is reached; there are: "
            f"{', '.join(there) or 'none'}"
        )
    for figure in found:
        if figure.value < value:
            label = measured.system(figure.system).label
            yield Missed(figure=figure, system=label, wanted=value)
