"""The forms an agent may have, and what it is told."""

import json
from dataclasses import fields
from typing import Any

import pytest

from memory_server.domain.turn import Role, Turn
from memory_server.errors import AgentAnswerTooLong, WrongAgentAnswer
from tests.factories import a_turn
from tests.integration.providers.agents.conftest import (
    KnownBadges,
    MakeAgent,
    a_call,
    answer_of,
    events_of,
)

FORMS = {
    "function": "def answer(message, invocation): return 'you said ' + message",
    "message alone": "def answer(message): return f'you said {message}'",
    "coroutine": "async def answer(message, invocation): return 'you said ' + message",
    "generator": """
        def answer(message, invocation):
            yield 'you said '
            yield message
        """,
    "async generator": """
        async def answer(message, invocation):
            yield 'you said '
            yield message
        """,
    "list": "def answer(message, invocation): return ['you said ', message]",
    "object": """
        class Agent:
            async def __call__(self, message, invocation):
                return 'you said ' + message
        answer = Agent()
        """,
    "coroutine to a generator": """
        async def pieces(message):
            yield 'you said ' + message
        async def answer(message, invocation):
            return pieces(message)
        """,
}


@pytest.mark.parametrize("form", FORMS)
async def test_an_agent_answers_in_any_of_its_forms(make: MakeAgent, form: str) -> None:
    assert await answer_of(make(FORMS[form])) == "you said hello"


async def test_an_agent_is_told_who_asks_and_what_came_along(make: MakeAgent) -> None:
    agent = make("""
        import dataclasses, json
        def answer(message, invocation):
            return json.dumps(dataclasses.asdict(invocation))
        """)
    call = a_call(payload={"city": "Köln"}, headers={"tenant": "t1"}, context="Ana likes tea")

    told = json.loads(await answer_of(agent, call))

    assert told == {
        "execution_id": "e1",
        "session_id": "s1",
        "user_id": "ana",
        "project_id": "shop",
        "payload": {"city": "Köln"},
        "headers": {"tenant": "t1"},
        "context": "Ana likes tea",
        "history": [],
    }


def stored(content: str, **changes: Any) -> Turn:
    turn = a_turn(content, **changes)
    return Turn(**{field.name: getattr(turn, field.name) for field in fields(turn)}, turn_seq=1)


async def test_history_is_of_this_session_and_context_of_others(make: MakeAgent) -> None:
    turns = [
        stored("Hi", session_id="s1"),
        stored("Yes?", session_id="s1", role=Role.ASSISTANT),
        stored("elsewhere", session_id="s2"),
    ]
    agent = make("""
        import json
        def answer(message, invocation):
            return json.dumps([list(invocation.history), invocation.context])
        """)

    history, context = json.loads(await answer_of(agent, a_call(recent=turns, context="known")))

    assert history == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
    ]
    assert context == "known\n\n## Said a moment ago\n- user: elsewhere"


async def test_steps_are_told_between_the_pieces(make: MakeAgent) -> None:
    agent = make("""
        def answer(message, invocation):
            yield {"type": "subagent_start", "text": "search"}
            yield {"type": "step", "text": "looked", "metadata": {"step_number": 1}}
            yield {"type": "text", "text": "found"}
            yield {"type": "subagent_end"}
        """)

    told = [(event.kind.value, event.text, event.metadata) for event in await events_of(agent)]

    assert told == [
        ("subagent_start", "search", {}),
        ("step", "looked", {"step_number": 1}),
        ("text", "found", {}),
        ("subagent_end", "", {}),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return None", "returned NoneType"),
        ("return 42", "returned int"),
        ("return b'bytes'", "returned bytes"),
        ("return {'type': 'text'}", "returned dict"),
        ("yield 42", "yielded int"),
        ("yield {'type': 'explosion'}", "another form"),
        ("yield {'type': 'step', 'metadata': {'at': object()}}", "no JSON"),
        ("yield {'type': 'step', 'metadata': {'n': float('nan')}}", "no JSON"),
    ],
)
async def test_what_is_no_answer_is_refused_with_the_forms_that_are(
    make: MakeAgent, body: str, said: str
) -> None:
    agent = make(f"def answer(message, invocation):\n    {body}\n")

    with pytest.raises(WrongAgentAnswer, match=said):
        await answer_of(agent)
    with pytest.raises(WrongAgentAnswer):  # by the same process: it did nothing worse
        await answer_of(agent)


@pytest.mark.parametrize(
    "body",
    [
        "return 'x' * 300_000",
        "while True: yield 'x' * 1000",
        "yield {'type': 'step', 'text': 'x' * 70_000}",
    ],
)
async def test_an_answer_without_measure_is_cut_off(make: MakeAgent, body: str) -> None:
    agent = make(f"def answer(message, invocation):\n    {body}\n")

    with pytest.raises(AgentAnswerTooLong, match="bytes"):
        await answer_of(agent)


async def test_half_a_character_in_a_step_becomes_a_question_mark(make: MakeAgent) -> None:
    agent = make(r"""
        def answer(message):
            yield {'type': 'step', 'text': 'a\ud800', 'metadata': {'b\ud800': ['c\udfff']}}
        """)

    [step] = await events_of(agent)

    assert (step.text, step.metadata) == ("a?", {"b?": ["c?"]})


async def test_half_a_character_becomes_a_question_mark(make: MakeAgent) -> None:
    agent = make(r"def answer(message, invocation): return 'a\ud83d' + message")

    assert await answer_of(agent, a_call("ß€😀")) == "a?ß€😀"


async def test_the_process_is_kept_between_calls(make: MakeAgent) -> None:
    agent = make("""
        import asyncio, os
        calls = 0
        loop = None
        async def answer(message, invocation):
            global calls, loop
            calls += 1
            loop = loop or asyncio.get_running_loop()
            return f'{calls} {loop is asyncio.get_running_loop()}'
        """)

    assert [await answer_of(agent) for _ in range(3)] == ["1 True", "2 True", "3 True"]


async def test_the_environment_has_what_the_sdk_looks_for_and_the_badge_is_out(
    make: MakeAgent, badges: KnownBadges
) -> None:
    agent = make(
        """
        import json, os
        def answer(message, invocation): return json.dumps(dict(os.environ))
        """,
        environment={"MY_KEY": "value-of-my-key", "AGENTENGINE_OWNER_TOKEN_FILE": "/stolen"},
    )

    seen = json.loads(await answer_of(agent))

    assert seen["AGENTIC_MEMORY_BASE_URL"] == "http://127.0.0.1:9"
    assert seen["AGENTIC_MEMORY_PROJECT_ID"] == seen["PROJECT_ID"] == "shop"
    assert seen["AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN"] == badges.out[0].token
    assert (seen["APP_ID"], seen["AGENTENGINE_EXECUTION_ID"]) == ("demo", "e1")
    assert seen["MY_KEY"] == "value-of-my-key"
    assert "AGENTENGINE_OWNER_TOKEN_FILE" not in seen
    assert badges.out[0].execution_id is None


async def test_without_memory_nothing_of_it_is_in_the_environment(
    make: MakeAgent, badges: KnownBadges
) -> None:
    agent = make(
        "import os\ndef answer(message): return ' '.join(os.environ)",
        remembers=False,
    )

    names = (await answer_of(agent)).split()

    assert not [name for name in names if name.startswith(("AGENTIC_", "OE_", "MEMORY_"))]
    assert badges.out == []


async def test_a_process_works_for_one_project_only(make: MakeAgent) -> None:
    agent = make(
        "import os\ndef answer(message): return f\"{os.getpid()} {os.environ['PROJECT_ID']}\"",
        most_processes=1,
    )

    first, second = [
        (await answer_of(agent, a_call(project_id=project))).split() for project in ("shop", "zoo")
    ]

    assert (first[1], second[1]) == ("shop", "zoo")
    assert first[0] != second[0]
