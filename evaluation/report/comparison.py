"""Two runs question by question: what changed, how surely, and what must not be compared."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from evaluation.metrics.intervals import bootstrap, cluster_bootstrap
from evaluation.report.measured import MICRO, Measure, Measured, Part, System
from memory_server.errors import InvalidRequest

FEWEST = 6
"""Questions that have to differ: as many, all in one direction, happen by chance in 1 of 32."""


class Incomparable(InvalidRequest):
    """Rows of different data, prompts, judges or k would be set side by side."""

    code = "INCOMPARABLE"


class Difference(Part):
    """One measure of two systems, over the questions that both have."""

    measure: str
    category: str
    base: float
    other: float
    n: int
    difference: float
    low: float
    high: float
    """Interval by drawing questions."""
    cluster_low: float | None = None
    cluster_high: float | None = None
    """Interval by drawing conversations; None where there is one conversation alone."""
    better: int
    worse: int
    """Questions on which the other is above and below the base."""

    @property
    def is_sure(self) -> bool:
        """Whether every interval there is leaves out 0, and enough questions differ to tell.

        Few that all differ in one direction draw an interval without 0 however they are drawn.
        """
        if self.better + self.worse < FEWEST:
            return False
        lows = [self.low] if self.cluster_low is None else [self.low, self.cluster_low]
        highs = [self.high] if self.cluster_high is None else [self.high, self.cluster_high]
        return min(lows) > 0 or max(highs) < 0


class Comparison(Part):
    """All measures that two systems share."""

    base: str
    other: str
    """Labels, each with the name of its run where there are two."""
    stage: str
    differences: Sequence[Difference]


def compare(
    base: Measured, base_system: System, other: Measured, other_system: System
) -> Comparison:
    """Compare two systems of one or two runs.

    Raises:
        Incomparable: their figures do not measure the same thing; says what differs.

    """
    differing = what_differs(base, base_system, other, other_system)
    if differing:
        raise Incomparable(
            f"{_name(base, base_system, other)} and {_name(other, other_system, base)} cannot be "
            "compared: " + "; ".join(differing)
        )
    return Comparison(
        base=_name(base, base_system, other),
        other=_name(other, other_system, base),
        stage=base_system.stage,
        differences=list(_differences(base, base_system, other, other_system)),
    )


def what_differs(
    base: Measured, base_system: System, other: Measured, other_system: System
) -> Sequence[str]:
    """Name all that has to be the same for two systems and is not.

    What is under test may differ: pipeline, mode, server. What measures may not: data, which
    questions count, and for answers k, reader, prompt and judge.
    """
    pairs = [
        ("stage", base_system.stage, other_system.stage),
        ("data", _data(base), _data(other)),
        ("adversarial questions", _adversarial(base), _adversarial(other)),
        ("k", base_system.k, other_system.k),
        ("reader", base_system.reader, other_system.reader),
        ("prompt", _prompt(base_system), _prompt(other_system)),
        ("judge", base_system.judge, other_system.judge),
        ("judge's model", base_system.judge_model, other_system.judge_model),
        ("judge's prompt", _judge_prompt(base_system), _judge_prompt(other_system)),
        ("judge's temperature", base_system.temperature, other_system.temperature),
    ]
    return [f"{what} ({one} and {two})" for what, one, two in pairs if one != two]


def comparisons(base: Measured, other: Measured) -> tuple[list[Comparison], list[str]]:
    """Compare each system of another run with the one of the base that is most like it.

    Returns the comparisons, and why some systems have no like.

    Raises:
        Incomparable: the runs are of different data, so that none of it can be compared.

    """
    if _data(base) != _data(other):
        raise Incomparable(
            f"the runs are of different data: {_data(base)} and {_data(other)}; measure both on "
            "the same data"
        )
    found: list[Comparison] = []
    refused: list[str] = []
    for system in other.systems:
        like = sorted(base.systems, key=lambda each: _unlikeness(base, each, other, system))
        if not like or like[0].stage != system.stage:
            refused.append(f"{system.label}: the base has nothing of the stage {system.stage}")
            continue
        try:
            found.append(compare(base, like[0], other, system))
        except Incomparable as error:
            refused.append(str(error))
    return found, refused


def comparisons_within(measured: Measured) -> list[Comparison]:
    """Compare the first search of a run with its others: what a mode is worth beside its legs."""
    searches = [system for system in measured.systems if system.stage == "search"]
    return [compare(measured, other, measured, searches[0]) for other in searches[1:]]


def _unlikeness(
    base: Measured, each: System, other: Measured, system: System
) -> tuple[bool, int, bool, bool]:
    return (
        each.stage != system.stage,
        len(what_differs(base, each, other, system)),
        each.mode != system.mode,
        each.pipeline != system.pipeline,
    )


def _differences(
    base: Measured, base_system: System, other: Measured, other_system: System
) -> Iterator[Difference]:
    theirs = other.scores[other_system.key]
    for measure, scores in base.scores[base_system.key].items():
        shared = sorted(scores.keys() & theirs.get(measure, {}).keys())
        if not shared:
            continue
        for category, keys in _by_category(base, shared).items():
            yield _difference(
                measure,
                category,
                [scores[key] for key in keys],
                [theirs[measure][key] for key in keys],
                [base.conversations[key] for key in keys],
            )


def _by_category(base: Measured, keys: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key in keys:
        groups.setdefault(base.question_categories[key], []).append(key)
    return {MICRO: list(keys)} | dict(sorted(groups.items()))


def _difference(
    measure: Measure,
    category: str,
    base: Sequence[float],
    other: Sequence[float],
    clusters: Sequence[str],
) -> Difference:
    differences = [two - one for one, two in zip(base, other, strict=True)]
    interval = bootstrap(differences)
    by_conversation = cluster_bootstrap(differences, clusters)
    return Difference(
        measure=measure.label,
        category=category,
        base=fmean(base),
        other=fmean(other),
        n=len(differences),
        difference=fmean(differences),
        low=interval.low,
        high=interval.high,
        cluster_low=by_conversation.low if by_conversation else None,
        cluster_high=by_conversation.high if by_conversation else None,
        better=sum(each > 0 for each in differences),
        worse=sum(each < 0 for each in differences),
    )


def _name(measured: Measured, system: System, beside: Measured) -> str:
    """Return a system's label, with its run's name where two runs are compared."""
    return system.label if measured is beside else f"{measured.name}: {system.label}"


def _data(measured: Measured) -> str:
    return f"{measured.manifest.dataset_name} {measured.manifest.dataset[:12]}"


def _adversarial(measured: Measured) -> str:
    return "counted" if measured.with_adversarial else "left out"


def _prompt(system: System) -> str:
    return f"{system.prompt} {system.prompt_digest[:8]}".strip()


def _judge_prompt(system: System) -> str:
    return system.judge_prompt_digest[:8]
