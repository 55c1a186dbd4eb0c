from collections import Counter

from evaluation.chat import ChatModel
from evaluation.judges.judge import open_judge
from evaluation.judges.self_test import cases, self_test
from evaluation.suite import ModelChoice
from tests.chat_server import running, says
from tests.evaluation.report.records import a_question

QUESTIONS = [
    a_question("q1", text="When did Ann move?", answers=("8 May 2021",), category="2"),
    a_question("q2", text="When did Ben marry?", answers=("June 2019",), category="2"),
    a_question("q3", text="What does Ann play?", answers=("cello",), category="4"),
    a_question("q4", answers=(), is_abstention=True),
]


def test_each_case_of_the_own_set_has_one_answer_of_each_kind() -> None:
    kinds = Counter(case.kind for case in cases([]))

    assert kinds["right"] == kinds["specific"] == kinds["vague"] >= 10


def test_cases_of_the_data_take_a_wrong_answer_from_another_question_of_the_category() -> None:
    made = {case.key: case.answer for case in cases(QUESTIONS) if case.source == "data"}

    assert made == {
        "q1-right": "8 May 2021",
        "q1-specific": "June 2019",
        "q1-vague": "Some time ago, as far as they said",
        "q2-right": "June 2019",
        "q2-specific": "8 May 2021",
        "q2-vague": "Some time ago, as far as they said",
        "q3-right": "cello",
        "q3-vague": "Something they talked about",
    }


def test_the_same_data_give_the_same_cases() -> None:
    many = [a_question(f"q{n}", answers=(f"answer {n}",)) for n in range(60)]

    assert cases(many) == cases(many[::-1])


async def test_a_judge_that_lets_everything_pass_is_seen_to() -> None:
    with running() as server:
        server.default = says('{"label": "CORRECT"}')
        choice = ModelChoice(provider="openai", model="tiny", base_url=server.url)
        model = ChatModel(choice, environment={})
        judge = open_judge("locomo_generous", model)
        records = [record async for record in self_test(judge, [])]
        await model.close()

    assert all(record.is_right for record in records)
    assert {record.kind for record in records} == {"right", "specific", "vague"}
    assert {record.prompt_digest for record in records} == {judge.digest}
