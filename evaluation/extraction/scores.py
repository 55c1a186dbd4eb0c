"""Figures of compared cases, by half, type and language: each a share with its n and interval.

`precision`
    Live memories that were expected, of those that are not neutral. Of types other than semantic
    only those of cases that list one: there alone such memories are labelled.
`recall`
    Expected memories that were found.
`recall_single`
    The same, of those that one plain sentence states.
`actions`
    Found memories that came to be by exactly the expected decisions, of those with such a label.
`times`
    Found memories with the expected event time, or none where none is expected.
`history`
    Found memories of which a former version says what it should.
`as_of`
    Searches as of a moment that found what held then.
`made_up`
    Live memories that tell what must not be remembered, or facts with a number, a name or a word
    that stands in no turn. The fewer the better: `hits` is how many, of all live ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from pydantic import BaseModel, ConfigDict

from evaluation.extraction.labels import TYPES
from evaluation.extraction.matching import SEMANTIC, Compared, Pair
from evaluation.metrics.intervals import wilson

ALL = "all"
MADE_UP = "made_up"
Outcomes = Iterator[bool]
Counted = Callable[[Compared, str], Outcomes]
"""One outcome for each thing that a measure counts in a case, of a type."""


class Figure(BaseModel):
    """One share."""

    model_config = ConfigDict(frozen=True)

    half: str
    type: str
    """A memory type, or `all`."""
    language: str
    """A language, or `all`."""
    measure: str
    hits: int
    n: int
    value: float
    low: float
    high: float
    """Wilson's interval at 95 %."""


def figures(compared: Sequence[tuple[str, Compared]]) -> Sequence[Figure]:
    """Return every figure that has an n, given each case with its half."""
    halves = list(dict.fromkeys(half for half, _ in compared))
    languages = sorted({one.case.language for _, one in compared})
    found: list[Figure] = []
    for half, kind, language in product(halves, (ALL, *TYPES), (ALL, *languages)):
        cases = [
            one for name, one in compared if name == half and language in (ALL, one.case.language)
        ]
        for measure, counted in _COUNTED.items():
            outcomes = [right for one in cases for right in counted(one, kind)]
            if outcomes:
                found.append(_figure(outcomes, half, kind, language, measure))
    return found


def _figure(outcomes: Sequence[bool], half: str, kind: str, language: str, measure: str) -> Figure:
    hits, n = sum(outcomes), len(outcomes)
    interval = wilson(hits, n)
    return Figure(
        half=half,
        type=kind,
        language=language,
        measure=measure,
        hits=hits,
        n=n,
        value=round(hits / n, 4),
        low=round(interval.low, 4),
        high=round(interval.high, 4),
    )


def _precise(one: Compared, kind: str) -> Outcomes:
    for pair in _pairs(one, kind):
        if pair.found is not None and pair.found.is_live:
            yield True
    yield from (False for memory in one.false if kind in (ALL, memory.type))


def _recalled(one: Compared, kind: str) -> Outcomes:
    return (pair.found is not None for pair in _pairs(one, kind))


def _singles(one: Compared, kind: str) -> Outcomes:
    return (pair.found is not None for pair in _pairs(one, kind) if pair.expected.single)


def _as_of(one: Compared, kind: str) -> Outcomes:
    return (answer.is_right for answer in one.as_of if kind in (ALL, SEMANTIC))


def _made_up(one: Compared, kind: str) -> Outcomes:
    bad = {made.memory.id for made in one.made_up}
    return (memory.id in bad for memory in one.live if kind in (ALL, memory.type))


def _labelled(test: Callable[[Compared, Pair], bool | None]) -> Counted:
    """Count the pairs whose label the test knows."""

    def counted(one: Compared, kind: str) -> Outcomes:
        outcomes = (test(one, pair) for pair in _pairs(one, kind))
        return (right for right in outcomes if right is not None)

    return counted


def _pairs(one: Compared, kind: str) -> Sequence[Pair]:
    return [pair for pair in one.pairs if kind in (ALL, pair.expected.type)]


_COUNTED: Mapping[str, Counted] = {
    "precision": _precise,
    "recall": _recalled,
    "recall_single": _singles,
    "actions": _labelled(Compared.right_actions),
    "times": _labelled(Compared.right_time),
    "history": _labelled(Compared.right_history),
    "as_of": _as_of,
    MADE_UP: _made_up,
}
MEASURES = tuple(_COUNTED)
