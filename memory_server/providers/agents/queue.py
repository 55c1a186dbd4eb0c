"""Whose call goes to the agent next: few at a time, the users in turn."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from memory_server.domain.limits import MAX_WAITING_CALLS, MAX_WAITING_CALLS_OF_ONE
from memory_server.errors import AgentBusy

_RETRY_SECONDS = 5.0

_Place = asyncio.Future[None]


class CallQueue:
    """Hands out places. Who waits longest comes next, of the user who was served longest ago."""

    def __init__(self, places: int, *, seconds: float) -> None:
        self._places = places
        self._seconds = seconds
        self._waiting: OrderedDict[Hashable, deque[_Place]] = OrderedDict()
        self.working = 0

    @asynccontextmanager
    async def place(self, user: Hashable) -> AsyncIterator[None]:
        """Hold a place; raises `AgentBusy` when too many wait, or when it takes too long."""
        if self.working < self._places:
            self.working += 1
        else:
            await self._wait(user)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, user: Hashable) -> None:
        self._check_room(user)
        place: _Place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(place)
        try:
            async with asyncio.timeout(self._seconds):
                await place
        except BaseException as error:
            self._give_up(user, place)
            if isinstance(error, TimeoutError):
                raise self._late() from None
            raise

    def _check_room(self, user: Hashable) -> None:
        of_one = len(self._waiting.get(user, ()))
        if of_one >= MAX_WAITING_CALLS_OF_ONE:
            raise AgentBusy(
                f"{of_one} invocations for this user wait for the agent already, which is the most",
                retry_after=_RETRY_SECONDS,
            )
        if sum(map(len, self._waiting.values())) >= MAX_WAITING_CALLS:
            raise AgentBusy(
                f"{MAX_WAITING_CALLS} invocations wait for the agent already, which is the most",
                retry_after=_RETRY_SECONDS,
            )

    def _late(self) -> AgentBusy:
        return AgentBusy(
            f"none of the agent's {self._places} processes became free within {self._seconds:g} "
            "seconds",
            retry_after=_RETRY_SECONDS,
        )

    def _give_up(self, user: Hashable, place: _Place) -> None:
        """Leave the queue; a place that was handed over at the same moment goes on."""
        if place.done() and not place.cancelled():
            self._pass_on()
            return
        others = self._waiting[user]
        others.remove(place)
        if not others:
            del self._waiting[user]

    def _pass_on(self) -> None:
        if not self._waiting:
            self.working -= 1
            return
        user, others = self._waiting.popitem(last=False)
        others.popleft().set_result(None)
        if others:
            self._waiting[user] = others
