import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from memory_server.api.admission import Admission, Asking
from memory_server.domain.limits import (
    MAX_CONCURRENT,
    MAX_CONCURRENT_OF_CALLER,
    MAX_CONCURRENT_OF_ONE,
    WORKING_OF_ONE,
)
from memory_server.errors import Overloaded, RateLimited
from tests.clock import ManualClock

OWNER = "the-owner-token"


def asking(user: str | None = "ana", **changes: Any) -> Asking:
    values: dict[str, Any] = {"caller": "app", "is_trusted": False, "project_id": "p"}
    return Asking(user_id=user, **values | changes)


def admission(clock: ManualClock | None = None, rate: float | None = None) -> Admission:
    return Admission(clock=clock or ManualClock(), owner_token=OWNER, writes_a_second=rate)


async def write(gate: Admission, times: int, **who: Any) -> None:
    for _ in range(times):
        async with gate.place(asking(**who, writes=True)):
            pass


class Flood:
    """Requests of one user that are in work, or wait, until they are told to end."""

    def __init__(self, gate: Admission) -> None:
        self._gate = gate
        self._end = asyncio.Event()
        self.working: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def add(self, number: int, name: str = "flood", **who: Any) -> None:
        self.tasks += [asyncio.create_task(self._one(name, who)) for _ in range(number)]
        await asyncio.sleep(0)

    async def _one(self, name: str, who: dict[str, Any]) -> None:
        async with self._gate.place(asking(**who)):
            self.working.append(name)
            await self._end.wait()

    async def ends(self) -> None:
        self._end.set()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def test_a_user_works_in_a_few_places_and_the_rest_wait_their_turn() -> None:
    flood = Flood(admission())

    await flood.add(WORKING_OF_ONE + 5)

    assert len(flood.working) == WORKING_OF_ONE
    await flood.ends()
    assert len(flood.working) == WORKING_OF_ONE + 5


async def test_those_who_wait_are_served_in_the_order_in_which_they_came() -> None:
    flood = Flood(admission())
    await flood.add(WORKING_OF_ONE)
    for name in ("first", "second", "third"):
        await flood.add(1, name)

    await flood.ends()

    assert flood.working[WORKING_OF_ONE:] == ["first", "second", "third"]


async def test_one_users_flood_is_nothing_to_another_user() -> None:
    flood = Flood(admission())
    await flood.add(MAX_CONCURRENT_OF_ONE)

    await flood.add(1, "bob", user="bob")

    assert "bob" in flood.working
    await flood.ends()


async def test_more_than_may_wait_for_one_user_are_told_to_come_again() -> None:
    gate = admission()
    flood = Flood(gate)
    await flood.add(MAX_CONCURRENT_OF_ONE)

    with pytest.raises(RateLimited, match=str(MAX_CONCURRENT_OF_ONE)) as raised:
        async with gate.place(asking()):
            raise AssertionError

    assert raised.value.details["retry_after"] == 1
    await flood.ends()
    async with gate.place(asking()):
        pass


async def test_one_caller_cannot_have_every_place_by_naming_many_users() -> None:
    gate = admission()
    flood = Flood(gate)
    for number in range(MAX_CONCURRENT_OF_CALLER):
        await flood.add(1, user=f"user-{number}")

    with pytest.raises(RateLimited, match=str(MAX_CONCURRENT_OF_CALLER)):
        await write(gate, 1)

    await write(gate, 1, caller="other")
    await flood.ends()


async def test_a_server_that_is_full_says_so() -> None:
    gate = admission()
    flood = Flood(gate)
    for number in range(MAX_CONCURRENT):
        await flood.add(1, user=f"user-{number}", caller=f"app-{number % 4}")

    with pytest.raises(Overloaded, match=str(MAX_CONCURRENT)):
        await write(gate, 1, caller="other")

    await flood.ends()
    await write(gate, 1, caller="other")


async def test_what_waits_for_others_holds_none_of_a_users_places() -> None:
    flood = Flood(admission())
    await flood.add(MAX_CONCURRENT_OF_ONE * 2, takes_long=True)

    await flood.add(1, "inner")

    assert "inner" in flood.working
    await flood.ends()


@pytest.mark.parametrize("given_up", range(3))
async def test_a_wait_that_is_given_up_leaves_no_trace(given_up: int) -> None:
    flood = Flood(admission())
    await flood.add(WORKING_OF_ONE + 3)
    flood.tasks[WORKING_OF_ONE + given_up].cancel()
    await asyncio.sleep(0)

    await flood.ends()

    assert len(flood.working) == WORKING_OF_ONE + 2
    again = Flood(flood._gate)
    await again.add(WORKING_OF_ONE)
    assert len(again.working) == WORKING_OF_ONE
    await again.ends()


async def test_a_place_that_was_passed_to_somebody_who_left_goes_to_the_next() -> None:
    gate = admission()
    async with AsyncExitStack() as held:
        for _ in range(WORKING_OF_ONE - 1):
            await held.enter_async_context(gate.place(asking()))
        last = AsyncExitStack()
        await last.enter_async_context(gate.place(asking()))
        flood = Flood(gate)
        await flood.add(1, "left")
        await flood.add(1, "next")
        await last.aclose()
        flood.tasks[0].cancel()
        await asyncio.gather(flood.tasks[0], return_exceptions=True)
        await asyncio.sleep(0)
        assert flood.working == ["next"]
        await flood.ends()


async def test_writes_for_one_user_are_limited_and_the_wait_is_told() -> None:
    clock = ManualClock()
    gate = admission(clock, rate=0.5)
    await write(gate, 5)

    with pytest.raises(RateLimited, match=r"0\.5 a second and 5 at once") as raised:
        await write(gate, 1)

    assert raised.value.details["retry_after"] == 2
    await write(gate, 1, user="bob")
    clock.advance(2)
    await write(gate, 1)


async def test_writes_a_little_beyond_the_rate_are_slowed_down_and_not_refused() -> None:
    clock = ManualClock()
    gate = admission(clock, rate=4)
    await write(gate, 40)

    beyond = [asyncio.create_task(write(gate, 1)) for _ in range(5)]
    await asyncio.sleep(0)
    done = []
    for _ in range(4):
        clock.advance(0.25)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        done.append(sum(task.done() for task in beyond))

    assert done == [2, 3, 4, 5]
    assert [isinstance(task.exception(), RateLimited) for task in beyond] == [False] * 4 + [True]


async def test_writes_of_one_caller_are_limited_whoever_they_are_for() -> None:
    gate = admission(rate=0.2)
    for number in range(4):
        await write(gate, 2, user=f"user-{number}")

    with pytest.raises(RateLimited, match=r"one caller may write 0\.8 a second"):
        await write(gate, 1, user="another")

    await write(gate, 2, caller="other")


async def test_a_refused_write_draws_nothing() -> None:
    clock = ManualClock()
    gate = admission(clock, rate=0.5)
    await write(gate, 5)
    for _ in range(100):
        with pytest.raises(RateLimited):
            await write(gate, 1)
    clock.advance(2)

    await write(gate, 1)


async def test_reads_draw_nothing() -> None:
    gate = admission(rate=1)
    for _ in range(100):
        async with gate.place(asking()):
            pass


async def test_the_owner_and_this_machine_are_limited_only_where_it_is_asked_for() -> None:
    await write(admission(), 10_000, is_trusted=True)
    await write(admission(rate=0), 10_000)

    with pytest.raises(RateLimited):
        await write(admission(rate=0.5), 6, is_trusted=True)


@pytest.mark.parametrize(
    ("authorization", "trusted"),
    [
        (None, True),
        (f"Bearer {OWNER}", True),
        (f"bearer  {OWNER} ", True),
        ("Bearer other", False),
        (f"Basic {OWNER}", False),
        ("Bearer Ω", False),
    ],
)
def test_no_credential_and_the_owners_are_trusted(authorization: str | None, trusted: bool) -> None:
    assert admission().is_trusted(authorization) is trusted
