import pytest

from evaluation.report.measure import measure
from evaluation.report.measured import Measured
from evaluation.thresholds import missed
from evaluation.workspace import Workspace
from tests.evaluation.report.records import a_manifest, a_question, a_search, an_item


@pytest.fixture
def measured(workspace: Workspace) -> Measured:
    """Figures of two searches: one finds the evidence of one question of two, the other none."""
    workspace.keep(a_manifest())
    for key in ("q1", "q2"):
        question = a_question(key, category=key)
        workspace.questions.append(question)
        found = [an_item("t1" if key == "q1" else "t9")]
        workspace.searches.append(a_search(key, found, configuration="good"))
        workspace.searches.append(a_search(key, [an_item("t9")], configuration="bad"))
    return measure(workspace.directory)


def test_what_is_reached_is_not_told(measured: Measured) -> None:
    assert missed(measured, {"recall@10": 0.5, "mrr": 0.5}, ["good"]) == []


def test_what_is_missed_is_named_with_its_number_and_value(measured: Measured) -> None:
    [one] = missed(measured, {"recall@10": 0.51}, ["good"])

    assert str(one).startswith("recall@10 is 0.5000 (n=2, ")
    assert str(one).endswith("and should be at least 0.51")


def test_figure_may_be_of_one_category(measured: Measured) -> None:
    wanted = {"recall@10/q1": 1.0, "recall@10/q2": 0.5}

    [one] = missed(measured, wanted, ["good"])

    assert "recall@10 is 0.0000 (n=1, category q2" in str(one)


def test_only_systems_of_the_run_count(measured: Measured) -> None:
    assert missed(measured, {"recall@10": 0.5}, ["good"]) == []
    assert len(missed(measured, {"recall@10": 0.5}, ["good", "bad"])) == 1


def test_figure_that_was_not_measured_is_no_pass(measured: Measured) -> None:
    wanted = {"fresh_over_stale@10": 0.1, "recall@10/q3": 0.1}

    no_figure, no_category = missed(measured, wanted, ["good"])

    assert str(no_figure) == "fresh_over_stale@10 was not measured"
    assert str(no_category) == "recall@10/q3 was not measured: its categories are macro, q1, q2"
