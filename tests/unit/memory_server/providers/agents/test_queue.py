"""Whose call goes to the agent next."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from memory_server.errors import AgentBusy
from memory_server.providers.agents import queue
from memory_server.providers.agents.queue import CallQueue


class Line:
    """A queue of one place, who came to it, and in which order they were served."""

    def __init__(self, *, seconds: float = 60) -> None:
        self.queue = CallQueue(1, seconds=seconds)
        self.served: list[str] = []

    async def ask(self, user: str) -> None:
        async with self.queue.place(user):
            self.served.append(user)


@pytest.fixture
def line() -> Line:
    return Line()


async def waiting(line: Line, *users: str) -> list["asyncio.Task[None]"]:
    tasks = [asyncio.create_task(line.ask(user)) for user in users]
    await asyncio.sleep(0)
    return tasks


async def test_users_are_served_in_turn_and_each_in_order(line: Line) -> None:
    async with line.queue.place("busy"):
        tasks = await waiting(line, "ana", "ana", "ana", "bob", "ana", "cem")
    await asyncio.gather(*tasks)

    assert line.served == ["ana", "bob", "cem", "ana", "ana", "ana"]
    assert line.queue.working == 0


async def test_one_users_crowd_leaves_room_for_others(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING_CALLS_OF_ONE", 2)
    async with line.queue.place("busy"):
        tasks = await waiting(line, "ana", "ana", "bob")
        with pytest.raises(AgentBusy, match="2 invocations for this user") as caught:
            await line.ask("ana")
    await asyncio.gather(*tasks)

    assert caught.value.details["retry_after"] == 5
    assert line.served == ["ana", "bob", "ana"]


async def test_too_many_that_wait_are_refused(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING_CALLS", 1)
    async with line.queue.place("busy"):
        tasks = await waiting(line, "ana")
        with pytest.raises(AgentBusy, match="1 invocations wait"):
            await line.ask("bob")
    await asyncio.gather(*tasks)


async def test_whoever_gives_up_leaves_the_queue() -> None:
    line = Line()
    async with line.queue.place("busy"):
        [gone, stays] = await waiting(line, "ana", "bob")
        gone.cancel()
        await asyncio.wait({gone})
    await stays

    assert line.served == ["bob"]


async def test_a_place_handed_to_somebody_who_left_goes_to_the_next(line: Line) -> None:
    async with AsyncExitStack() as busy:
        await busy.enter_async_context(line.queue.place("busy"))
        [gone, stays] = await waiting(line, "ana", "bob")
        await busy.aclose()
        gone.cancel()
    await stays

    assert line.served == ["bob"]
    assert line.queue.working == 0


async def test_a_wait_that_is_too_long_is_given_up() -> None:
    line = Line(seconds=0)
    async with line.queue.place("busy"):
        with pytest.raises(AgentBusy, match="became free within 0 seconds"):
            await line.ask("ana")

    await line.ask("bob")
    assert line.served == ["bob"]
