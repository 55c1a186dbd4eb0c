"""An agent of the user's own: its processes, few and warm, one call at a time in each."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

from memory_server.errors import AgentEnded, AgentError, AgentUnloadable
from memory_server.ports.agent import Agent, AgentCall, AgentEvent, AgentState, Badge, Badges
from memory_server.providers.agents.environment import environment, sources
from memory_server.providers.agents.process import AgentProcess
from memory_server.providers.agents.queue import CallQueue
from memory_server.providers.agents.settings import AgentSettings

logger = logging.getLogger("agent.process")

IDLE_SECONDS = 300.0
"""How long processes beyond the first are kept without work."""
LONGEST_PAUSE = 30.0


class Patience:
    """How long to wait before another process is started, after some that failed in a row."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._error: AgentError | None = None

    def failed(self, error: AgentError, *, now: float) -> None:
        """Note a failure: the first costs nothing, then a second, twice as long each time."""
        pause = 2.0 ** (self._failures - 1) if self._failures else 0.0
        self._failures += 1
        self._until = now + min(pause, LONGEST_PAUSE)
        self._error = error

    def forget(self) -> None:
        """Note that it works, or that its files changed."""
        self._failures, self._until, self._error = 0, 0.0, None

    def check(self, *, now: float) -> None:
        """Raise the last failure again while it is too early to try."""
        if self._error is not None and now < self._until:
            raise type(self._error)(str(self._error), retry_after=self._until - now)


class ProcessAgent(Agent):
    """Runs the agent in processes of its own and keeps them between calls.

    Before each call the agent's Python files are looked at; where they changed, the call goes to
    a process that was started afterwards. A process works for one project only.
    """

    def __init__(
        self,
        settings: AgentSettings,
        *,
        badges: Badges,
        project_id: str,
        org_id: str,
        memory_url: str | None,
        wait_seconds: float,
    ) -> None:
        self._settings = settings
        self._badges = badges
        self._project_id = project_id
        self._org_id = org_id
        self._memory_url = memory_url
        self._queue = CallQueue(settings.most_processes, seconds=wait_seconds)
        self._idle: list[AgentProcess] = []
        self._busy: set[AgentProcess] = set()
        self._sources = 0
        self._patience = Patience()
        self._state = AgentState(name=settings.name, status="starting")
        self._warming: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def remembers(self) -> bool:
        return self._settings.remembers

    @property
    def id(self) -> str | None:
        return self._settings.name

    @property
    def state(self) -> AgentState:
        return self._state

    async def start(self) -> None:
        if self._warming is not None:
            return
        self._warming = asyncio.create_task(self._warm_up(), name="first process of the agent")

    async def close(self) -> None:
        self._is_closed = True
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait({self._warming})
        for process in [*self._idle, *self._busy]:
            await self._end(process)
        self._idle.clear()

    async def answer(self, call: AgentCall) -> AsyncGenerator[AgentEvent]:
        async with self._queue.place(_user(call)), self._process(call.project_id) as process:
            try:
                async with aclosing(process.answer(call)) as events:
                    async for event in events:
                        yield event
            except AgentEnded as error:
                self._patience.failed(error, now=_now())
                raise
            self._patience.forget()

    async def _warm_up(self) -> None:
        try:
            async with self._queue.place(None), self._process(self._project_id):
                logger.info("the agent %s is loaded", self.name)
        except AgentError as error:
            logger.error("the agent %s: %s", self.name, error)  # noqa: TRY400 the words say it all

    @asynccontextmanager
    async def _process(self, project_id: str) -> AsyncIterator[AgentProcess]:
        process = await self._taken(project_id)
        self._busy.add(process)
        try:
            yield process
        finally:
            self._busy.discard(process)
            await self._give_back(process)

    async def _taken(self, project_id: str) -> AgentProcess:
        """Return a process that has loaded the files as they are now."""
        found = await asyncio.to_thread(sources, str(self._settings.directory))
        if found != self._sources:
            self._sources = found
            self._patience.forget()
        await self._retire(lambda process: not process.is_usable or process.sources != found)
        for process in self._idle:
            if process.project_id == project_id:
                self._idle.remove(process)
                return process
        if self._idle and len(self._idle) + self._queue.working > self._settings.most_processes:
            await self._end(self._idle.pop(0))
        return await self._launched(project_id, found)

    async def _launched(self, project_id: str, found: int) -> AgentProcess:
        self._patience.check(now=_now())
        badge = Badge()
        given = environment(
            self._settings,
            os.environ,
            project_id=project_id,
            org_id=self._org_id,
            memory_url=self._memory_url,
            token=badge.token,
        )
        try:
            process = await AgentProcess.launch(self._settings, given, badge)
        except AgentUnloadable as error:
            self._patience.failed(error, now=_now())
            self._state = AgentState(name=self.name, status="failed", problem=str(error))
            raise
        if self._settings.remembers:
            self._badges.admit(badge)
        process.project_id, process.sources = project_id, found
        self._state = AgentState(name=self.name, status="ready")
        return process

    async def _give_back(self, process: AgentProcess) -> None:
        if self._is_closed or not process.is_usable or process.sources != self._sources:
            await self._end(process)
            return
        process.idle_since = _now()
        self._idle.append(process)
        if len(self._idle) > 1:
            before = _now() - IDLE_SECONDS
            await self._retire(lambda idle: idle.idle_since < before)

    async def _retire(self, unwanted: Callable[[AgentProcess], bool]) -> None:
        going = [process for process in self._idle if unwanted(process)]
        self._idle = [process for process in self._idle if process not in going]
        for process in going:
            await self._end(process)

    async def _end(self, process: AgentProcess) -> None:
        self._badges.expel(process.badge)
        await process.kill()


def _user(call: AgentCall) -> tuple[str, str]:
    return call.project_id, call.user_id


def _now() -> float:
    return asyncio.get_running_loop().time()
