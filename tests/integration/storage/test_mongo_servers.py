"""Several servers that write and work on one database at once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import chain

import pytest

from memory_server.domain.job import Job, JobKind, JobState
from memory_server.errors import AlreadyPromoted, LeaseLost
from memory_server.storage.mongo import MongoDatabase, MongoStore
from memory_server.storage.mongo.collections import JOB_OWNERS, JOBS, SESSIONS
from tests.clock import START, ManualClock
from tests.factories import PROJECT, SESSION, a_job, a_scope, a_snapshot, a_turn
from tests.integration.storage.mongo_servers import servers_on

LEASE = timedelta(minutes=1)
CONFLICT_SECONDS = 10.0
"""A call that waits for another transaction goes on for twice as long."""
Servers = tuple[list[MongoStore], MongoDatabase]


@pytest.fixture
async def servers(mongodb: str, clock: ManualClock) -> AsyncIterator[Servers]:
    async with servers_on(mongodb, clock) as servers:
        yield servers


async def claim(store: MongoStore, worker: str, *, now: timedelta = timedelta()) -> Job | None:
    """Claim one job for a minute."""
    moment = START + now
    return await store.jobs.claim(
        worker=worker, kinds=[*JobKind], now=moment, lease_until=moment + LEASE
    )


async def work(store: MongoStore, worker: str) -> list[str]:
    """Do jobs until there are none; return their ids."""
    ids = []
    while job := await claim(store, worker):
        ids.append(job.id)
        await store.jobs.complete(job, result={}, now=START)
    return ids


async def test_turns_of_one_session_are_numbered_without_gaps(servers: Servers) -> None:
    stores, database = servers

    async def write(number: int) -> list[int]:
        store = stores[number % len(stores)]
        return [(await store.turns.append(a_turn())).turn_seq for _ in range(3)]

    numbers = await asyncio.gather(*map(write, range(9)))

    run = await stores[0].turns.run(PROJECT, SESSION, first_seq=1, last_seq=99)
    assert (
        [turn.turn_seq for turn in run] == sorted(chain.from_iterable(numbers)) == [*range(1, 28)]
    )
    session = await database[SESSIONS].find_one({})
    assert session is not None
    assert (session["last_seq"], session["unpromoted"]) == (27, 27)


async def test_one_key_used_on_every_server_stores_one_turn(servers: Servers) -> None:
    stores, _ = servers

    stored = await asyncio.gather(
        *(store.turns.append(a_turn(idempotency_key="k")) for store in stores * 3)
    )

    assert {turn.id for turn in stored} == {stored[0].id}
    assert len(await stores[1].turns.recent(a_scope(), limit=9)) == 1


async def test_each_job_is_done_once(servers: Servers) -> None:
    stores, database = servers
    jobs = [
        a_job(user_id=(None, "ana", "bob")[n % 3], payload={"type": f"type {n % 5}"})
        for n in range(30)
    ]
    await asyncio.gather(*(store.jobs.enqueue(jobs) for store in stores))

    done = await asyncio.gather(*(work(stores[n % 3], f"w{n}") for n in range(8)))

    assert sorted(chain.from_iterable(done)) == sorted(job.id for job in jobs)
    assert [owner["unfinished"] async for owner in database[JOB_OWNERS].find()] == [0, 0, 0]
    assert await database[JOBS].find_one({"available_at": {"$exists": True}}) is None


async def test_work_queued_on_every_server_at_once_is_queued_once(servers: Servers) -> None:
    stores, _ = servers
    jobs = [a_job(key=f"key {number}", user_id=f"user {number % 2}") for number in range(6)]

    new = await asyncio.gather(*(store.jobs.enqueue(jobs) for store in stores * 2))

    assert sum(new) == 6
    assert (await stores[0].jobs.counts()).queued == 6


async def test_users_are_served_in_turn_whichever_server_asks(servers: Servers) -> None:
    stores, _ = servers
    await stores[0].jobs.enqueue(
        [a_job(user_id=user) for user in ("ana", "ana", "ana", "bob", "cem")]
    )

    order = []
    for number in range(5):
        job = await claim(stores[number % 3], f"w{number}")
        assert job is not None
        order.append(job.user_id)
        await stores[(number + 1) % 3].jobs.complete(job, result={}, now=START)

    assert order == ["ana", "bob", "cem", "ana", "ana"]


async def claim_while_ana_is_written(store: MongoStore, database: MongoDatabase) -> Job | None:
    """Claim while a transaction of another server is about to change what is known of ana."""
    async with database.client.start_session() as session, await session.start_transaction():
        written = await database[JOB_OWNERS].update_one(
            {"owner": {"$regex": "ana"}}, {"$inc": {"changes": 1}}, session=session
        )
        claimed = await asyncio.wait_for(claim(store, "w"), CONFLICT_SECONDS)
        await session.abort_transaction()
    assert written.matched_count == 1
    return claimed


async def test_a_claim_passes_by_an_owner_that_another_server_is_writing(servers: Servers) -> None:
    stores, database = servers
    await stores[0].jobs.enqueue([a_job(user_id=user) for user in ("ana", "bob", "ana")])

    passed = await claim_while_ana_is_written(stores[1], database)
    after = await claim(stores[1], "w")

    assert passed is not None
    assert after is not None
    assert (passed.user_id, after.user_id) == ("bob", "ana")


async def test_who_was_passed_by_is_served_before_long_though_servers_keep_apart(
    servers: Servers,
) -> None:
    stores, database = servers
    users = ["ana", *(f"user {number}" for number in range(20))]
    await stores[0].jobs.enqueue([a_job(user_id=user) for user in users])

    await claim_while_ana_is_written(stores[1], database)
    claimed = [await claim(stores[1], "w") for _ in range(4)]

    assert "ana" in {job.user_id for job in claimed if job is not None}


async def test_who_lost_a_lease_to_another_server_cannot_settle(servers: Servers) -> None:
    stores, _ = servers
    await stores[0].jobs.enqueue([a_job()])
    stale = await claim(stores[0], "paused")
    other = await claim(stores[1], "awake", now=LEASE)
    assert stale is not None
    assert other is not None

    outcomes = await asyncio.gather(
        stores[0].jobs.complete(stale, result={"by": "paused"}, now=START),
        stores[1].jobs.complete(other, result={"by": "awake"}, now=START),
        return_exceptions=True,
    )

    assert [type(one) for one in outcomes] == [LeaseLost, type(None)]
    (job,) = await stores[2].jobs.list(PROJECT, state=JobState.DONE)
    assert job.result == {"by": "awake"}


async def test_of_two_servers_that_promote_the_same_turns_one_does(servers: Servers) -> None:
    stores, database = servers
    for _ in range(2):
        await stores[0].turns.append(a_turn())
    snapshots = [a_snapshot(1, 2) for _ in stores]

    outcomes = await asyncio.gather(
        *(
            store.snapshots.promote(snapshot, [a_job(user_id="bob"), a_job()])
            for store, snapshot in zip(stores, snapshots, strict=True)
        ),
        return_exceptions=True,
    )

    assert sorted(type(one).__name__ for one in outcomes) == ["AlreadyPromoted"] * 2 + ["NoneType"]
    assert isinstance(next(one for one in outcomes if one is not None), AlreadyPromoted)
    winner = snapshots[outcomes.index(None)]
    run = await stores[0].turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)
    assert {turn.snapshot_id for turn in run} == {winner.id}
    assert await database[JOBS].distinct("snapshot_id") == [winner.id]


async def test_turns_recorded_while_others_are_promoted_are_all_counted(servers: Servers) -> None:
    stores, database = servers
    for _ in range(4):
        await stores[0].turns.append(a_turn())

    async def promote() -> None:
        for number in range(1, 5):
            await stores[1].snapshots.promote(a_snapshot(number, number), [])

    async def record(store: MongoStore) -> None:
        for _ in range(4):
            await store.turns.append(a_turn())

    await asyncio.gather(promote(), record(stores[0]), record(stores[2]))

    session = await database[SESSIONS].find_one({})
    assert session is not None
    counted = (session["last_seq"], session["promoted_seq"], session["unpromoted"])
    assert counted == (12, 4, 8)
