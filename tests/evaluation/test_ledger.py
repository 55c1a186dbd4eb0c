from pathlib import Path

import pytest

from evaluation.errors import RecordsDamaged
from evaluation.ledger import Ledger
from evaluation.records import QuestionRecord
from tests.evaluation.report.records import a_question


def opened(path: Path, told: list[str] | None = None) -> Ledger[QuestionRecord]:
    heard = [] if told is None else told
    return Ledger(path, QuestionRecord, key=lambda one: one.question, told=heard.append)


def test_what_was_appended_is_there_for_whoever_opens_the_file_next(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    opened(path).append(a_question("q1", text="Où ?"))
    opened(path).append(a_question("q2"))

    again = opened(path)

    assert [one.question for one in again] == ["q1", "q2"]
    assert "q1" in again
    assert "q3" not in again
    found = again.get("q1")
    assert found is not None
    assert found.text == "Où ?"


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_line_that_was_not_written_to_its_end_is_dropped_and_told(tmp_path: Path, cut: int) -> None:
    path, told = tmp_path / "q.jsonl", list[str]()
    ledger = opened(path)
    ledger.append(a_question("q1"))
    ledger.append(a_question("q2"))
    path.write_bytes(path.read_bytes()[:-cut])

    again = opened(path, told)
    again.append(a_question("q3"))

    assert [one.question for one in opened(path)] == ["q1", "q3"]
    assert len(told) == 1
    assert "done again" in told[0]


def test_line_that_is_no_record_is_told_with_its_place_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    opened(path).append(a_question("q1"))
    with path.open("a") as file:
        file.write('{"question": 1}\n')
    opened_lines = path.read_bytes()

    with pytest.raises(RecordsDamaged, match=r"q\.jsonl, line 2: .*Take the line out"):
        opened(path)
    assert path.read_bytes() == opened_lines


def test_newest_record_of_a_key_counts(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "q.jsonl")
    ledger.append(a_question("q1", text="old"))
    ledger.append(a_question("q1", text="new"))

    found = opened(tmp_path / "q.jsonl").get("q1")
    assert found is not None
    assert found.text == "new"


def test_what_is_forgotten_is_gone_from_the_file(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "q.jsonl")
    for key in ("q1", "q2"):
        ledger.append(a_question(key))

    assert ledger.forget(lambda one: one.question == "q1") == 1
    assert ledger.forget(lambda one: one.question == "q1") == 0
    assert [one.question for one in opened(tmp_path / "q.jsonl")] == ["q2"]
