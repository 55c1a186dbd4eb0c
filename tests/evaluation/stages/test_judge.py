from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from evaluation.chat import ChatModel, Completion
from evaluation.judges.judge import open_judge
from evaluation.judges.self_test import cases
from evaluation.records import AnswerRecord
from evaluation.stages.judge import Judging
from evaluation.workspace import Workspace
from memory_server.errors import ProviderUnavailable
from tests.evaluation.report.records import DATA, a_question
from tests.evaluation.watching import Remembering

QUESTIONS = [a_question("q1"), a_question("q2"), a_question("q3", answers=())]


@dataclass
class Yes:
    """A model that calls everything right, until it fails."""

    name: str = "fake:yes"
    asked: int = 0
    fails_at: int | None = None
    told: list[str] = field(default_factory=list)

    async def complete(self, instructions: str, text: str, **_: Any) -> Completion:
        if self.asked == self.fails_at:
            raise ProviderUnavailable("away")
        self.asked += 1
        self.told.append(text)
        return Completion(text='{"label": "CORRECT"}', tokens_in=9, tokens_out=2)


def an_answer(question: str) -> AnswerRecord:
    return AnswerRecord(
        dataset=DATA,
        configuration="a",
        question=question,
        search="s",
        k=5,
        reader="extractive",
        prompt="",
        prompt_digest="d",
        answer="Lisbon",
        milliseconds=1.0,
    )


@pytest.fixture
def answered(workspace: Workspace) -> Workspace:
    for question in QUESTIONS:
        workspace.answers.append(an_answer(question.question))
    return workspace


def judging(workspace: Workspace, watcher: Remembering, model: Yes, **more: Any) -> Judging:
    given: dict[str, Any] = {
        "dataset": DATA,
        "questions": QUESTIONS,
        "answers": ["a"],
        "judges": [open_judge("locomo_generous", cast(ChatModel, model))],
        "runs": 2,
        "workspace": workspace,
        "watcher": watcher,
        "concurrency": 1,
    }
    return Judging(**given | more)


async def test_every_answer_that_can_be_marked_is_marked_in_each_run_once(
    answered: Workspace, watcher: Remembering
) -> None:
    assert await judging(answered, watcher, Yes()).run() == 4
    again = Yes()
    assert await judging(answered, watcher, again).run() == 0

    verdicts = {(one.question, one.run): one.is_right for one in answered.judgements}
    assert verdicts == {(key, run): True for key in ("q1", "q2") for run in (1, 2)}
    assert again.asked == 0


async def test_judge_is_tested_before_it_marks_and_only_once(
    answered: Workspace, watcher: Remembering
) -> None:
    await judging(answered, watcher, Yes(), runs=1).run()
    more = Yes()
    await judging(answered, watcher, more, runs=2).run()

    assert len(list(answered.self_tests)) == len(cases(QUESTIONS))
    assert more.asked == 2


async def test_verdicts_before_a_failure_are_kept(
    answered: Workspace, watcher: Remembering
) -> None:
    tested = len(cases(QUESTIONS))
    with pytest.raises(ProviderUnavailable):
        await judging(answered, watcher, Yes(fails_at=tested + 3)).run()

    assert len(list(answered.judgements)) == 3
    assert await judging(answered, watcher, Yes()).run() == 1


async def test_another_judge_marks_anew(answered: Workspace, watcher: Remembering) -> None:
    await judging(answered, watcher, Yes(), runs=1).run()
    strict = [open_judge("locomo_strict", cast(ChatModel, Yes()))]

    assert await judging(answered, watcher, Yes(), runs=1, judges=strict).run() == 2
    assert len({one.configuration for one in answered.judgements}) == 2
