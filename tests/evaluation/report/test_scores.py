import pytest

from evaluation.records import JudgementRecord, QuestionRecord, SearchRecord
from evaluation.report.measured import Measure
from evaluation.report.scores import score_answer, score_judgements, score_search
from tests.evaluation.report.records import a_judgement, a_question, a_search, an_answer, an_item

EXCHANGES = {"t1": "e1", "t2": "e1", "t3": "e2", "t4": "e2"}


def scores_of(search: SearchRecord, question: QuestionRecord) -> dict[str, float]:
    scored = score_search(search, question, EXCHANGES, cutoffs=(1, 2), budgets=(15, 40))
    return {measure.label: value for measure, value in scored}


def test_the_same_list_is_scored_by_turn_exchange_and_session() -> None:
    question = a_question("q1", evidence=("t1",), sessions=("s1",))
    found = [
        an_item("t2", sessions=("s1",)),
        an_item("t3", sessions=("s1",)),
        an_item("t1", sessions=("s2",)),
    ]

    scores = scores_of(a_search("q1", found), question)

    assert scores["recall@2"] == 0.0
    assert scores["exchange.recall@1"] == 1.0
    assert scores["session.recall@1"] == 1.0
    assert scores["mrr"] == pytest.approx(1 / 3)


def test_k_sessions_are_more_than_the_sessions_of_k_items() -> None:
    question = a_question("q1", evidence=("t4",), sessions=("s2",))
    found = [an_item(turn, sessions=("s1",)) for turn in ("t1", "t2")]

    scores = scores_of(a_search("q1", [*found, an_item("t4", sessions=("s2",))]), question)

    assert scores["session.recall@2"] == 1.0
    assert scores["session_of_items.recall@2"] == 0.0


def test_a_budget_counts_the_items_that_fit() -> None:
    question = a_question("q1", evidence=("t1", "t2"))
    found = [an_item("t1", tokens=10), an_item("t3", tokens=10), an_item("t2", tokens=10)]

    scores = scores_of(a_search("q1", found), question)

    assert (scores["recall@15t"], scores["recall@40t"]) == (0.5, 1.0)


def test_a_changed_fact_is_fresh_where_the_new_turn_comes_first() -> None:
    question = a_question("q1", evidence=("t1", "t3"), stale=("t1",))

    fresh = scores_of(a_search("q1", [an_item("t3"), an_item("t1")]), question)
    stale = scores_of(a_search("q1", [an_item("t1"), an_item("t3")]), question)

    assert (fresh["fresh_over_stale@2"], stale["fresh_over_stale@2"]) == (1.0, 0.0)


def test_gold_is_contained_in_one_of_the_first_items() -> None:
    found = [an_item("t2"), an_item("t1", content="I moved to Lisbon.")]

    scores = scores_of(a_search("q1", found), a_question("q1"))

    assert (scores["gold_contained@1"], scores["gold_contained@2"]) == (0.0, 1.0)


def test_an_answer_is_scored_against_the_best_of_several_golds() -> None:
    question = a_question("q1", answers=("Porto", "Lisbon"))

    scores = dict(score_answer(an_answer("q1", "Lisbon"), question))

    assert scores[Measure("f1_locomo", k=10)] == 1.0
    assert scores[Measure("contained", k=10)] == 1.0
    assert scores[Measure("words", k=10)] == 1.0
    assert Measure("declined", k=10) not in scores


@pytest.mark.parametrize(("answer", "value"), [("Not mentioned", 1.0), ("Lisbon", 0.0)])
def test_a_question_without_an_answer_wants_it_declined(answer: str, value: float) -> None:
    question = a_question("q1", answers=(), is_abstention=True)

    scores = dict(score_answer(an_answer("q1", answer), question))

    assert scores[Measure("declined", k=10)] == value
    assert Measure("f1_locomo", k=10) not in scores


def test_j_is_the_mean_of_runs_and_what_cannot_be_read_is_not_right() -> None:
    verdicts: list[JudgementRecord] = [
        a_judgement("q1", is_right=is_right, run=run)
        for run, is_right in enumerate((True, None, False, True))
    ]

    assert dict(score_judgements(verdicts, 10)) == {Measure("j", k=10): 0.5}
