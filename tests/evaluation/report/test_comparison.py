from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation.records import FoundItem, Record
from evaluation.report.comparison import (
    Incomparable,
    compare,
    comparisons,
    comparisons_within,
    what_differs,
)
from evaluation.report.measure import measure
from evaluation.report.measured import Measured
from tests.evaluation.report.records import (
    a_judgement,
    a_manifest,
    a_question,
    a_search,
    an_answer,
    an_item,
    write,
)

HIT: Sequence[FoundItem] = [an_item("t1")]


def questions() -> list[Record]:
    return [a_question(f"q{n}", conversation=f"c{n % 3}") for n in range(9)]


def run_of(directory: Path, hits: int, *others: Record, **changes: Any) -> Measured:
    """Measure a run that finds the evidence of so many of nine questions."""
    searches = [a_search(f"q{n}", HIT if n < hits else [], **changes) for n in range(9)]
    return measure(write(directory, *questions(), *searches, *others))


def test_the_same_questions_are_paired(tmp_path: Path) -> None:
    base, other = run_of(tmp_path / "base", 3), run_of(tmp_path / "other", 6)

    found, refused = comparisons(base, other)

    recall = next(each for each in found[0].differences if each.measure == "recall@5")
    assert refused == []
    assert (found[0].base, found[0].other) == ("base: turns/hybrid", "other: turns/hybrid")
    assert recall.n == 9
    assert recall.base == pytest.approx(1 / 3)
    assert recall.other == pytest.approx(2 / 3)
    assert recall.difference == pytest.approx(1 / 3)
    assert (recall.better, recall.worse) == (3, 0)
    assert recall.low <= recall.difference <= recall.high
    assert recall.cluster_low is not None


@pytest.mark.parametrize(("hits", "sure"), [(1, False), (5, False), (6, True)])
def test_few_questions_that_differ_are_never_sure(tmp_path: Path, hits: int, sure: bool) -> None:
    """Each in a conversation of its own, so that both intervals leave out 0."""

    def run(name: str, found: Sequence[FoundItem]) -> Measured:
        asked = [a_question(f"q{n}", conversation=f"c{n}") for n in range(hits)]
        searches = [a_search(f"q{n}", found) for n in range(hits)]
        return measure(write(tmp_path / name, *asked, *searches))

    [compared], _ = comparisons(run("base", []), run("other", HIT))

    assert {each.is_sure for each in compared.differences if each.measure == "hit@10"} == {sure}


def test_a_difference_is_sure_where_no_interval_holds_0(tmp_path: Path) -> None:
    base = run_of(tmp_path / "base", 0)

    same, _ = comparisons(base, run_of(tmp_path / "same", 0))
    all_found, _ = comparisons(base, run_of(tmp_path / "all", 9))

    assert not any(each.is_sure for each in same[0].differences)
    assert all(each.is_sure for each in all_found[0].differences if each.measure == "hit@10")


def test_runs_of_other_data_are_refused_by_name(tmp_path: Path) -> None:
    base = run_of(tmp_path / "base", 3)
    data = "f" * 64
    other = measure(
        write(
            tmp_path / "other",
            a_question("q1", dataset=data),
            a_search("q1", HIT, dataset=data),
            manifest=a_manifest(dataset=data),
        )
    )

    with pytest.raises(Incomparable, match="different data: own dddddddddddd and own ffffffffffff"):
        comparisons(base, other)


def test_answers_of_another_k_and_prompt_are_not_set_side_by_side(tmp_path: Path) -> None:
    base = run_of(tmp_path / "base", 3, an_answer("q1", "Lisbon"))
    changed = an_answer("q1", "Lisbon", k=20, prompt="short", prompt_digest="abc")
    other = run_of(tmp_path / "other", 3, changed)

    found, refused = comparisons(base, other)

    assert [each.stage for each in found] == ["search"]
    assert len(refused) == 1
    assert "k (10 and 20)" in refused[0]
    assert "prompt ( and short abc)" in refused[0]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"judge": "locomo_strict"}, "judge (locomo_generous and locomo_strict)"),
        ({"model": "other"}, "judge's model (tiny and other)"),
        ({"prompt_digest": "p2"}, "judge's prompt (p1 and p2)"),
        ({"temperature": 0.7}, "judge's temperature (0.0 and 0.7)"),
    ],
)
def test_verdicts_of_another_judge_are_named(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    answer = an_answer("q1", "Lisbon")
    base = run_of(tmp_path / "base", 3, answer, a_judgement("q1", is_right=True))
    other = run_of(tmp_path / "other", 3, answer, a_judgement("q1", is_right=True, **changes))

    assert what_differs(base, base.systems[-1], other, other.systems[-1]) == [named]


def test_adversarial_questions_counted_in_one_alone_are_refused(tmp_path: Path) -> None:
    base = run_of(tmp_path / "base", 3)
    other = measure(tmp_path / "base", with_adversarial=True)

    with pytest.raises(Incomparable, match=r"adversarial questions \(left out and counted\)"):
        compare(base, base.systems[0], other, other.systems[0])


def test_a_mode_is_compared_with_its_legs(tmp_path: Path) -> None:
    legs = [
        a_search(f"q{n}", HIT, mode="text", configuration="search2", pipeline="turns")
        for n in range(9)
    ]
    measured = run_of(tmp_path / "run", 3, *legs)

    (comparison,) = comparisons_within(measured)

    assert (comparison.base, comparison.other) == ("turns/text", "turns/hybrid")
    recall = next(each for each in comparison.differences if each.measure == "recall@5")
    assert recall.difference == pytest.approx(-2 / 3)
