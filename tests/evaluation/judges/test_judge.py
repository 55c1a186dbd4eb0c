from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from evaluation.chat import ChatModel
from evaluation.judges.judge import can_be_marked, open_judge
from evaluation.prompts import judge_names
from evaluation.suite import ModelChoice
from memory_server.errors import InvalidRequest
from tests.chat_server import DECLINES, ChatServer, running, says
from tests.evaluation.report.records import a_question

RIGHT = says('It fits. {"label": "CORRECT"}')


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with running() as chat:
        yield chat


@pytest.fixture
async def model(server: ChatServer) -> AsyncIterator[ChatModel]:
    choice = ModelChoice(provider="openai", model="tiny", base_url=server.url)
    chat = ChatModel(choice, environment={})
    yield chat
    await chat.close()


async def test_a_judge_sees_question_gold_and_answer(server: ChatServer, model: ChatModel) -> None:
    server.will(RIGHT)

    verdict = await open_judge("locomo_generous", model, temperature=0.5).mark(
        a_question("q1"), "She lives in Lisbon."
    )

    told = str(server.received[0].messages)
    assert verdict.is_right is True
    assert verdict.tokens_in == 11
    assert "Where does Ann live?" in told
    assert "Right answer: Lisbon" in told
    assert "System's answer: She lives in Lisbon." in told
    assert server.received[0].body["temperature"] == 0.5


async def test_a_reply_that_cannot_be_read_is_no_verdict(
    server: ChatServer, model: ChatModel
) -> None:
    server.will(says("Probably fine."), DECLINES)
    judge = open_judge("locomo_strict", model)

    verdicts = [await judge.mark(a_question("q1"), "x") for _ in range(2)]

    assert [verdict.is_right for verdict in verdicts] == [None, None]
    assert verdicts[0].reply == "Probably fine."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"category": "multi-session"}, "Is the response right?"),
        ({"category": "temporal-reasoning"}, "off by one"),
        ({"category": "knowledge-update"}, "something that changed"),
        (
            {"category": "single-session-preference", "answers": (), "rubric": "likes trains"},
            "Rubric: likes trains",
        ),
        (
            {"category": "temporal-reasoning", "is_abstention": True, "answers": ()},
            "Reason: It was never said.",
        ),
    ],
)
async def test_longmemeval_marks_each_kind_of_question_by_its_own_prompt(
    server: ChatServer, model: ChatModel, changes: dict[str, Any], words: str
) -> None:
    server.will(says("yes"))

    verdict = await open_judge("longmemeval", model).mark(a_question("q1", **changes), "x")

    assert verdict.is_right is True
    assert words in str(server.received[0].messages)


def test_judges_of_other_prompts_have_other_digests(model: ChatModel) -> None:
    digests = [open_judge(name, model).digest for name in judge_names()]

    assert len(set(digests)) == len(digests) == 8


def test_an_unknown_judge_is_refused_with_those_there_are(model: ChatModel) -> None:
    with pytest.raises(InvalidRequest, match="no judge 'kind'; there are longmemeval, lme_"):
        open_judge("kind", model)


def test_a_question_without_anything_right_cannot_be_marked() -> None:
    assert can_be_marked(a_question("q1"))
    assert not can_be_marked(a_question("q1", answers=()))
