from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluation.conversations import Conversation, Question
from evaluation.datasets import longmemeval
from evaluation.datasets.errors import InvalidDataset, UnknownChoice
from evaluation.datasets.longmemeval import open_longmemeval
from tests.evaluation.datasets.samples import a_message, an_item, written, written_lines


def opened(tmp_path: Path, item: Any) -> tuple[Conversation, Question]:
    [(conversation, [question])] = read(written(tmp_path / "data.json", item))
    return conversation, question


def read(path: Path, **options: Any) -> Sequence[tuple[Conversation, Sequence[Question]]]:
    return list(open_longmemeval(path, **options).conversations())


def test_sessions_are_told_by_date_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    conversation, _ = opened(tmp_path, an_item())

    assert [(t.key, t.said_at, t.text) for t in conversation.turns[::2]] == [
        ("s1:1", datetime(2023, 5, 20, 10, 20, tzinfo=UTC), "Hello"),
        ("s2:1", datetime(2023, 5, 22, 8, 0, tzinfo=UTC), "Tell me of tea"),
        ("s3:1", datetime(2023, 5, 25, 20, 21, tzinfo=UTC), "A third hive arrived"),
    ]


def test_nothing_given_to_a_system_says_which_session_holds_the_answer(tmp_path: Path) -> None:
    conversation, _ = opened(tmp_path, an_item())

    given = repr(conversation.turns)
    assert "answer" not in given
    assert "ultrachat" not in given
    assert {turn.role for turn in conversation.turns} == {"user", "assistant"}


def test_evidence_is_every_marked_turn_whoever_said_it(tmp_path: Path) -> None:
    _, question = opened(tmp_path, an_item())

    assert question.evidence == {"s3:1", "s1:2"}
    assert question.sessions == {"s1", "s3"}
    assert question.stale == frozenset()
    assert question.answers == ("3",)
    assert question.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)


def test_evidence_of_an_update_before_its_last_session_is_stale(tmp_path: Path) -> None:
    _, question = opened(tmp_path, an_item(question_type="knowledge-update"))

    assert question.stale == {"s1:2"}
    assert question.evidence - question.stale == {"s3:1"}


def test_an_update_told_at_one_moment_has_nothing_stale(tmp_path: Path) -> None:
    dates = ["2023/05/25 (Thu) 20:21"] * 2 + ["2023/05/22 (Mon) 08:00"]
    item = an_item(question_type="knowledge-update", haystack_dates=dates)

    _, question = opened(tmp_path, item)

    assert question.stale == frozenset()


def test_a_question_about_what_was_never_said_has_no_evidence(tmp_path: Path) -> None:
    _, question = opened(tmp_path, an_item("q1_abs", answer="You did not say"))

    assert question.is_abstention
    assert question.evidence == question.sessions == frozenset()
    assert question.answers == ("You did not say",)


def test_a_preference_is_judged_by_a_rubric(tmp_path: Path) -> None:
    item = an_item(question_type="single-session-preference", answer="Would like tea")

    _, question = opened(tmp_path, item)

    assert question.rubric == "Would like tea"
    assert question.answers == ()


def test_a_session_after_the_question_is_kept(tmp_path: Path) -> None:
    conversation, question = opened(tmp_path, an_item(question_date="2023/05/25 (Thu) 08:08"))

    assert len(conversation.turns) == 6
    assert question.asked_at is not None
    assert conversation.turns[-1].said_at is not None
    assert conversation.turns[-1].said_at > question.asked_at


def test_lines_are_read_as_an_array_is(tmp_path: Path) -> None:
    items = [an_item("q1"), an_item("q2")]

    assert read(written_lines(tmp_path / "data.jsonl", items)) == read(
        written(tmp_path / "data.json", *items)
    )


def test_items_are_chosen_by_id_type_and_number(tmp_path: Path) -> None:
    items = [an_item("q1"), an_item("q2", question_type="temporal-reasoning"), an_item("q3")]
    path = written(tmp_path / "data.json", *items)

    assert [c.key for c, _ in read(path, only=["q3"])] == ["q3"]
    assert [c.key for c, _ in read(path, only=["temporal-reasoning", "q1"])] == ["q1", "q2"]
    assert [c.key for c, _ in read(path, limit=2)] == ["q1", "q2"]
    with pytest.raises(UnknownChoice, match="no question and no question type q9"):
        read(path, only=["q9", "q1"])


def test_no_item_is_read_after_the_last_that_is_wanted(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", an_item("q1"), {"question_id": "broken"})

    assert len(read(path, limit=1)) == 1


def test_questions_known_to_be_wrong_can_be_left_out(tmp_path: Path) -> None:
    wrong = next(iter(longmemeval.KNOWN_ERRORS))
    path = written(tmp_path / "data.json", an_item(wrong), an_item("q2"))
    whole, without = open_longmemeval(path), open_longmemeval(path, without_known_errors=True)

    assert [c.key for c, _ in whole.conversations()] == [wrong, "q2"]
    assert [c.key for c, _ in without.conversations()] == ["q2"]
    assert whole.digest != without.digest
    assert any("counted" in note and wrong in note for note in whole.notes)
    assert any("left out" in note and wrong in note for note in without.notes)


def test_what_is_generated_is_called_synthetic(tmp_path: Path) -> None:
    dataset = open_longmemeval(written(tmp_path / "data.json", an_item(synthetic=True)))

    assert dataset.is_synthetic
    assert any("not a score of LongMemEval" in note for note in dataset.notes)


def test_synthetic_and_real_items_in_one_file_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", an_item("q1"), an_item("q2", synthetic=True))

    with pytest.raises(InvalidDataset, match="item 2: synthetic items and others are mixed"):
        read(path)


def test_a_question_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataset, match="item 2: question_id q1 is there twice"):
        read(written(tmp_path / "data.json", an_item(), an_item()))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": None}, "item 2: answer should be text"),
        ({"question_date": "30 May"}, "item 2: question_date: '30 May' is no date"),
        ({"haystack_dates": ["2023/02/30 (Thu) 10:00"] * 3}, r"haystack_dates\[0\]: .* is no date"),
        ({"haystack_dates": []}, "have 0, 3 and 3 entries"),
        (
            {"haystack_sessions": [[a_message("system", "x")], [], []]},
            r"haystack_sessions\[0\]\[0\].role is not right",
        ),
    ],
)
def test_what_is_not_in_the_schema_is_refused_with_its_place(
    tmp_path: Path, changes: Any, reason: str
) -> None:
    path = written(tmp_path / "data.json", an_item("q1"), an_item("q2", **changes))

    with pytest.raises(InvalidDataset, match=reason):
        read(path)


def test_a_file_without_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataset, match="no item in it"):
        open_longmemeval(written(tmp_path / "data.json"))
