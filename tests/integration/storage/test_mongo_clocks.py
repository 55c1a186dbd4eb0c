"""Servers whose own clocks differ by minutes share the work as if they did not."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from memory_server.domain.job import Job, JobKind
from memory_server.errors import LeaseLost
from memory_server.providers.system import SystemClock
from memory_server.storage.mongo import DatabaseClock, MongoDatabase, MongoStore
from tests.clock import ManualClock
from tests.factories import PROJECT, a_job
from tests.mongo import a_database

SKEW = timedelta(minutes=5)
LEASE = timedelta(seconds=30)
CLOSE = timedelta(seconds=20)
"""Two moments that a busy machine lets pass between two lines of a test."""

Server = tuple[MongoStore, DatabaseClock, ManualClock]


@pytest.fixture
async def servers(mongodb: str) -> AsyncIterator[list[Server]]:
    """One five minutes behind the database, one five minutes ahead of it."""
    servers = []
    with a_database(mongodb) as name:
        async with AsyncExitStack() as closing:
            for skew in (-SKEW, SKEW):
                machine = ManualClock(SystemClock().now() + skew)
                clock = DatabaseClock(machine)
                store = MongoStore(MongoDatabase(mongodb, name, clock=clock), clock=clock)
                await store.open()
                closing.push_async_callback(store.close)
                servers.append((store, clock, machine))
            yield servers


async def claim(server: Server, worker: str) -> Job | None:
    store, clock, _ = server
    now = clock.now()
    return await store.jobs.claim(
        worker=worker, kinds=[JobKind.EXTRACT], now=now, lease_until=now + LEASE
    )


async def test_they_tell_the_time_of_the_database(servers: list[Server]) -> None:
    (_, behind, _), (_, ahead, _) = servers

    assert abs(behind.now() - ahead.now()) < CLOSE
    assert abs(behind.ahead - SKEW) < CLOSE
    assert abs(ahead.ahead + SKEW) < CLOSE


@pytest.mark.parametrize("first", [0, 1])
async def test_a_lease_of_one_is_neither_over_nor_endless_for_the_other(
    servers: list[Server], first: int
) -> None:
    one, other = servers[first], servers[1 - first]
    store, clock, _ = one
    await store.jobs.enqueue([a_job(created_at=clock.now(), due_at=clock.now())])

    held = await claim(one, "one")
    taken_too_early = await claim(other, "other")
    other[2].advance(by=LEASE + CLOSE)
    taken = await claim(other, "other")

    assert held is not None
    assert taken_too_early is None
    assert taken is not None
    assert taken.id == held.id
    with pytest.raises(LeaseLost):
        await store.jobs.complete(held, result={}, now=clock.now())
    assert (await store.jobs.counts(PROJECT)).running == 1


async def test_a_clock_that_is_set_is_put_right_by_the_next_look(servers: list[Server]) -> None:
    (store, clock, machine), (_, reference, _) = servers
    machine.advance(by=timedelta(hours=1))
    assert clock.now() - reference.now() > CLOSE

    await store.ping()

    assert abs(clock.now() - reference.now()) < CLOSE
