"""Agents in real processes."""

import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from memory_server.ports.agent import AgentCall, AgentEvent, Badge, Badges
from memory_server.providers.agents.pool import ProcessAgent
from memory_server.providers.agents.settings import AgentSettings

MakeAgent = Callable[..., ProcessAgent]


class KnownBadges(Badges):
    """Remembers which badges are out."""

    def __init__(self) -> None:
        self.out: list[Badge] = []

    def admit(self, badge: Badge) -> None:
        self.out.append(badge)

    def expel(self, badge: Badge) -> None:
        self.out = [known for known in self.out if known is not badge]


@pytest.fixture
def badges() -> KnownBadges:
    return KnownBadges()


@pytest.fixture
def code(tmp_path: Path) -> Callable[[str], Path]:
    """Write the agent's module."""

    def write(source: str) -> Path:
        path = tmp_path / "demo.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write


@pytest.fixture
async def make(
    tmp_path: Path, badges: KnownBadges, code: Callable[[str], Path]
) -> AsyncIterator[MakeAgent]:
    """Make agents from the text of their module; they end with the test."""
    made: list[ProcessAgent] = []

    def an_agent(source: str, *, wait_seconds: float = 60, **settings: Any) -> ProcessAgent:
        code(source)
        given = {"name": "demo", "directory": tmp_path, "entrypoint": "demo:answer", **settings}
        agent = ProcessAgent(
            AgentSettings(**given),
            badges=badges,
            project_id="shop",
            org_id="acme",
            memory_url="http://127.0.0.1:9",
            wait_seconds=wait_seconds,
        )
        made.append(agent)
        return agent

    yield an_agent
    for agent in made:
        await agent.close()


def a_call(message: str = "hello", **changes: Any) -> AgentCall:
    given = {
        "execution_id": "e1",
        "project_id": "shop",
        "user_id": "ana",
        "session_id": "s1",
        "message": message,
    }
    return AgentCall(**{**given, **changes})


async def events_of(agent: ProcessAgent, call: AgentCall | None = None) -> list[AgentEvent]:
    async with aclosing(agent.answer(call or a_call())) as events:
        return [event async for event in events]


async def answer_of(agent: ProcessAgent, call: AgentCall | None = None) -> str:
    return "".join(event.text for event in await events_of(agent, call) if event.kind == "text")
