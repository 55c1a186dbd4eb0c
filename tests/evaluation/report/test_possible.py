from pathlib import Path

from evaluation.report.measure import measure
from evaluation.report.possible import (
    labels_of_answers,
    labels_of_judgements,
    labels_of_searches,
)
from tests.evaluation.report.records import (
    a_judgement,
    a_question,
    a_search,
    an_answer,
    an_ingest,
    an_item,
    write,
)

CUTOFFS = (5, 10)


def test_every_figure_that_is_measured_was_possible_and_every_possible_one_is_measured(
    tmp_path: Path,
) -> None:
    records = (
        an_ingest(exchanges={"t1": "t1", "t2": "t2"}),
        a_question("q1", stale=("t2",)),
        a_question("q2", answers=(), evidence=(), sessions=(), is_abstention=True),
        a_search("q1", [an_item("t1")], depth=50),
        an_answer("q1", "Lisbon"),
        an_answer("q2", "Not mentioned"),
        an_answer("q1", "Lisbon", configuration="answer2", k=5),
        an_answer("q2", "Not mentioned", configuration="answer2", k=5),
        a_judgement("q1", is_right=True),
        a_judgement("q1", is_right=True, answer="answer2", configuration="judge2"),
    )

    measured = measure(write(tmp_path, *records), cutoffs=CUTOFFS)

    assert {figure.measure for figure in measured.figures} == {
        *labels_of_searches(CUTOFFS, 50),
        *labels_of_answers(CUTOFFS),
        *labels_of_judgements(CUTOFFS),
    }
