"""The agents in docs/howto/write-an-agent.md are what an agent may be."""

import re
from pathlib import Path

import pytest

from tests.integration.providers.agents.conftest import MakeAgent, answer_of, events_of

PAGE = Path(__file__).parents[4] / "docs" / "howto" / "write-an-agent.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_three_agents() -> None:
    assert len(BLOCKS) == 3


@pytest.mark.parametrize(("block", "said"), [(0, "ana said: hello"), (1, "An answer in pieces.")])
async def test_an_agent_of_the_page_answers(make: MakeAgent, block: int, said: str) -> None:
    assert await answer_of(make(BLOCKS[block])) == said


async def test_the_step_of_the_page_is_told(make: MakeAgent) -> None:
    assert (await events_of(make(BLOCKS[1])))[0].text == "looking it up"


async def test_the_agent_with_the_sdk_is_loaded(make: MakeAgent) -> None:
    agent = make(BLOCKS[2])

    await agent.start()
    assert agent._warming is not None
    await agent._warming

    assert agent.state.problem is None
