from collections.abc import Sequence
from typing import Any

import pytest

from evaluation.records import FoundItem
from evaluation.report.losses import Losses
from tests.evaluation.report.records import a_question, a_search, an_item

FILLER = [an_item(f"x{n}", sessions=("s9",), content=f"filler {n}") for n in range(4)]


def reasons(
    found: Sequence[FoundItem], others: Sequence[FoundItem] = (), **changes: Any
) -> Sequence[str]:
    lost, _ = Losses(
        system="search1",
        k=2,
        questions={"q1": a_question("q1", **changes)},
        searches={"q1": a_search("q1", found)},
        others={"text": {"q1": a_search("q1", others)}} if others else {},
        exchanges={"c1": {"t1": "e1", "t2": "e1"}},
    ).find()
    return [reason for each in lost for reason in each.reasons.values()]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([*FILLER, an_item("t1")], "found, but beyond k: rank 5"),
        ([FILLER[0], an_item("t2")], "another turn of its exchange was found: rank 2"),
        ([an_item("t8", sessions=("s1",))], "another turn of its session was found: rank 1"),
        (FILLER, "nothing near it was found"),
        ([], "nothing near it was found"),
    ],
)
def test_lost_evidence_has_a_reason(found: Sequence[FoundItem], reason: str) -> None:
    assert reasons(found) == [reason]


def test_stale_that_came_first_is_the_reason() -> None:
    found = [an_item("t4", sessions=("s2",)), *FILLER, an_item("t1")]

    assert reasons(found, stale=("t4",)) == ["something stale came first: rank 1"]


def test_a_near_duplicate_of_another_session_is_the_reason() -> None:
    twin = an_item("t7", sessions=("s2",), content="Ann: I like hiking near the lake.")
    found = [twin, *FILLER, an_item("t1", content="Ann: I like hiking near the river.")]

    assert reasons(found) == ["a near-duplicate of another session came first: rank 1"]


def test_what_another_mode_found_is_told() -> None:
    assert reasons(FILLER, others=[an_item("t1")]) == [
        "found within k by another mode: text at rank 1"
    ]


def test_reasons_are_counted_over_all_questions_and_the_worst_come_first() -> None:
    questions = {
        "q1": a_question("q1", evidence=("t1", "t2")),
        "q2": a_question("q2", evidence=("t3",)),
        "q3": a_question("q3", evidence=("t1",)),
    }
    searches = {
        "q1": a_search("q1", [an_item("t1"), *FILLER]),
        "q2": a_search("q2", FILLER),
        "q3": a_search("q3", [an_item("t1")]),
    }

    lost, counted = Losses(
        system="search1", k=2, questions=questions, searches=searches, others={}, exchanges={}
    ).find()

    assert [each.question for each in lost] == ["q2", "q1"]
    assert [item.is_evidence for item in lost[1].retrieved][:2] == [True, False]
    assert [(each.reason, each.turns) for each in counted] == [
        ("another turn of its session was found", 1),
        ("nothing near it was found", 1),
    ]
