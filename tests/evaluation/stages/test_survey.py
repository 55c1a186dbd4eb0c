import pytest

from evaluation.stages.survey import survey
from evaluation.workspace import Workspace
from tests.evaluation.report.records import a_question as a_record
from tests.evaluation.talk import QUESTIONS, SAID, a_conversation, a_dataset


def test_questions_are_written_down_once_with_what_is_right(workspace: Workspace) -> None:
    found = survey(a_dataset(), workspace)
    survey(a_dataset(), workspace)

    assert found.turns == {"talk": len(SAID)}
    assert found.count == len(QUESTIONS)
    lines = (workspace.directory / "questions.jsonl").read_text().splitlines()
    assert len(lines) == len(QUESTIONS)
    assert '"evidence":["first:0"]' in lines[0]


def test_conversation_without_a_question_is_not_stored(workspace: Workspace) -> None:
    found = survey(a_dataset(a_conversation(), a_conversation("other")), workspace)

    assert list(found.turns) == ["talk"]


def test_questions_of_other_data_stay(workspace: Workspace) -> None:
    workspace.questions.append(a_record("q9", dataset="e" * 64))

    survey(a_dataset(), workspace)

    assert {one.question for one in workspace.questions} == {"q1", "q2", "q9"}


@pytest.mark.parametrize(
    ("stage", "left"),
    [("ingest", 0), ("search", 1), ("answer", 2), ("judge", 3)],
)
def test_a_stage_that_is_done_again_takes_those_after_it_along(
    workspace: Workspace, stage: str, left: int
) -> None:
    names = ["ingest.jsonl", "search.jsonl", "answers.jsonl", "judgements.jsonl"]
    again = workspace.from_stage(stage)

    assert [ledger.path.name for ledger in again] == names[left:]
