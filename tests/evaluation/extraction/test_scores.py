"""Figures are shares of what they say they count, with how many that is."""

import pytest

from evaluation.extraction.matching import compare
from evaluation.extraction.scores import ALL, Figure, figures
from evaluation.extraction.thresholds import check, missed
from evaluation.metrics.intervals import wilson
from memory_server.errors import InvalidRequest
from tests.evaluation.extraction.labelled import a_case, a_record, expected, stored

EPISODE = {"type": "episodic", "says": ["wedding"]}


@pytest.fixture
def counted() -> dict[tuple[str, str, str, str], tuple[int, int]]:
    """Hits and n of every figure, by half, type, language and measure."""
    english = compare(
        a_case(
            "I swim. I like tea. The wedding was nice. A dog.",
            expected=[expected("swims", single=True, actions=["ADD"]), expected("tea"), EPISODE],
            also=[expected("dog")],
            as_of=[{"at": "2026-04-01T00:00:00Z", "says": ["swims"]}],
        ),
        a_record(
            stored("The user swims."),
            stored("A dog."),
            stored("A parrot."),
            stored("wedding", type="episodic"),
            stored("other", type="episodic"),
            as_of=[["The user swims."]],
        ),
    )
    spanish = compare(
        a_case("Vivo en Sevilla.", language="es", expected=[expected("Sevilla", single=True)]),
        a_record(stored("dijo", type="episodic")),
    )
    found = figures([("worked", english), ("held", spanish)])
    return {(one.half, one.type, one.language, one.measure): (one.hits, one.n) for one in found}


def test_precision_leaves_out_what_is_neutral_and_types_that_are_not_listed(
    counted: dict[tuple[str, str, str, str], tuple[int, int]],
) -> None:
    assert counted["worked", "semantic", ALL, "precision"] == (1, 2)
    assert counted["worked", "episodic", ALL, "precision"] == (1, 2)
    assert counted["worked", ALL, ALL, "precision"] == (2, 4)
    assert ("held", "episodic", ALL, "precision") not in counted


def test_recall_counts_what_was_expected(
    counted: dict[tuple[str, str, str, str], tuple[int, int]],
) -> None:
    assert counted["worked", ALL, "en", "recall"] == (2, 3)
    assert counted["worked", "semantic", "en", "recall"] == (1, 2)
    assert counted["worked", ALL, ALL, "recall_single"] == (1, 1)
    assert counted["held", ALL, "es", "recall_single"] == (0, 1)


def test_other_measures_count_what_is_labelled_and_found(
    counted: dict[tuple[str, str, str, str], tuple[int, int]],
) -> None:
    assert counted["worked", ALL, ALL, "actions"] == (1, 1)
    assert counted["worked", "semantic", ALL, "as_of"] == (1, 1)
    assert counted["worked", ALL, ALL, "made_up"] == (1, 5)
    assert not [key for key in counted if key[3] in ("times", "history")]
    assert ("worked", "episodic", ALL, "as_of") not in counted


def test_what_was_taken_back_counts_for_recall_and_not_for_precision() -> None:
    case = a_case("I smoke.", expected=[expected("smokes", ended=True)])
    ended = compare(case, a_record(stored("The user smokes.", is_live=False)))

    found = {one.measure: (one.hits, one.n) for one in figures([("own", ended)])}

    assert found == {"recall": (1, 1)}


def test_a_figure_has_its_interval() -> None:
    case = a_case(expected=[expected("tea"), expected("milk")])

    [recall] = [
        one
        for one in figures([("own", compare(case, a_record(stored("tea"))))])
        if (one.type, one.language, one.measure) == (ALL, ALL, "recall")
    ]

    interval = wilson(1, 2)
    assert (recall.value, recall.low, recall.high) == (
        0.5,
        round(interval.low, 4),
        round(interval.high, 4),
    )


def a_figure(measure: str, hits: int, **changes: str) -> Figure:
    whole = {"half": "worked", "type": ALL, "language": ALL} | changes
    return Figure(measure=measure, hits=hits, n=10, value=hits / 10, low=0, high=1, **whole)


def test_what_is_below_what_was_asked_for_is_told() -> None:
    measured = [
        a_figure("precision", 9),
        a_figure("precision", 5, language="es"),
        a_figure("recall", 3, type="semantic", language="es"),
        a_figure("made_up", 2),
    ]
    wanted = {
        "precision": 0.9,
        "es.precision": 0.6,
        "semantic.es.recall": 0.3,
        "es.semantic.recall": 0.4,
        "made_up": 1,
        "times": 0.5,
    }

    assert missed(measured, wanted) == [
        "es.precision is 0.5000 (n=10, worked), and should be at least 0.6",
        "es.semantic.recall is 0.3000 (n=10, worked), and should be at least 0.4",
        "made_up is 2 of 10 (worked), and should be at most 1",
        "times was not measured: no case is labelled for it",
    ]
    assert missed(measured, {"made_up": 2}) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("precison", "did you mean precision"),
        ("fr.recall", "before the measure stands a type"),
        ("en.es.recall", "one of each"),
    ],
)
def test_a_figure_that_there_is_not_is_refused(name: str, told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        check({name: 0.5})
