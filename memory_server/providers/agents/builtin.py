"""The built-in agent: answers from memory, with the configured model or the local rules."""

from collections.abc import AsyncGenerator

from memory_server.ports.agent import Agent, AgentCall, AgentEvent, AgentEventKind, AgentState
from memory_server.ports.answerer import Answerer


class BuiltInAgent(Agent):
    """Has an answerer, and needs no process."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer

    @property
    def name(self) -> str:
        return self._answerer.name

    @property
    def remembers(self) -> bool:
        return True

    @property
    def id(self) -> str | None:
        return None

    async def answer(self, call: AgentCall) -> AsyncGenerator[AgentEvent]:
        async for piece in self._answerer.answer(
            call.message,
            context=call.context,
            chunks=call.chunks,
            recent=call.recent,
            past=call.past,
        ):
            yield AgentEvent(kind=AgentEventKind.TEXT, text=piece)

    @property
    def state(self) -> AgentState:
        return AgentState(name=self.name, status="ready")

    async def start(self) -> None:
        return

    async def close(self) -> None:
        return
