"""Erasing on one server while others write, and what it does to a lot."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.archive import ArchivedMemory, Outcome
from memory_server.domain.scope import Scope
from memory_server.errors import AlreadyPromoted, LeaseLost, MemoryServerError
from memory_server.ports.memories import Add
from memory_server.storage.mongo import MongoDatabase, MongoStore, erasure
from memory_server.storage.mongo.archive_taking import Taking
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import (
    JOB_OWNERS,
    JOBS,
    MEMORIES,
    SESSIONS,
    SNAPSHOTS,
    TURNS,
)
from memory_server.storage.mongo.database import Session
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.conformance.isolation import fill
from tests.factories import (
    PROJECT,
    SPACE,
    USER,
    a_job,
    a_memory,
    a_scope,
    a_snapshot,
    a_turn,
    a_vector,
)
from tests.integration.storage.mongo_servers import servers_on

LEASE = timedelta(minutes=1)
OF_USERS = (TURNS, SNAPSHOTS, JOBS, *MEMORIES.values())


@pytest.fixture
async def servers(
    mongodb: str, clock: ManualClock
) -> AsyncIterator[tuple[list[MongoStore], MongoDatabase]]:
    async with servers_on(mongodb, clock, count=2) as servers:
        yield servers


async def left_of(database: MongoDatabase, user_id: str) -> dict[str, int]:
    counted = {
        name: await database[name].count_documents({"user_id": user_id}) for name in OF_USERS
    }
    return {name: count for name, count in counted.items() if count}


async def a_lot(store: MongoStore, turns: int, memories: int, sessions: int = 1) -> None:
    for number in range(turns):
        turn = a_turn(session_id=f"s{number % sessions}", idempotency_key=f"k{number}")
        await store.turns.append(turn, vector=a_vector(1), space=SPACE)
    new = [Add(memory=a_memory(id=f"m{n}"), vector=a_vector(1)) for n in range(memories)]
    await store.memories.apply(PROJECT, new, space=SPACE)


async def test_counts_are_those_of_the_other_store(
    servers: tuple[list[MongoStore], MongoDatabase], clock: ManualClock
) -> None:
    (mongo, _), _ = servers
    sqlite = SqliteStore(None, clock=clock)
    await sqlite.open()
    for store in (mongo, sqlite):
        await fill(store)

    counts = [await store.erase(Scope(project_id=PROJECT)) for store in (mongo, sqlite)]

    assert counts[0] == counts[1]
    assert all(counts[0][kind] for kind in ("turns", "snapshots", "jobs", "memories", "vectors"))
    await sqlite.close()


async def test_more_than_a_portion_goes_with_the_same_counts(
    servers: tuple[list[MongoStore], MongoDatabase], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "PORTION", 4)
    (store, _), database = servers
    await a_lot(store, turns=21, memories=9, sessions=2)
    await store.turns.append(a_turn(session_id="s0", user_id="bob"))
    jobs = [a_job(id=f"j{n}", key=f"j{n}") for n in range(10)]
    await store.jobs.enqueue(jobs)

    counts = await store.erase(a_scope())

    wanted = {"turns": 21, "memories": 9, "jobs": 10, "sessions": 1, "idempotency_keys": 21}
    assert counts.items() >= wanted.items()
    assert (counts["vectors"], counts["index_entries"]) == (30, 30)
    assert await left_of(database, USER) == {}
    assert await database[JOB_OWNERS].count_documents({}) == 0
    session = await store.snapshots.session(PROJECT, "s0")
    assert session is not None
    assert (session.user_id, session.promoted_seq) == ("bob", session.last_seq - 1)


@contextmanager
def broken_off(store: MongoStore, *, after: int) -> Iterator[None]:
    """Let what the store does end with a fault after so many transactions."""
    database, number = store._database, itertools.count()
    transact = database.transact

    async def some(operation: Callable[[Session], Awaitable[Any]]) -> Any:
        if next(number) >= after:
            raise RuntimeError("broken off")
        return await transact(operation)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "transact", some)
        yield


async def test_an_erasure_that_was_broken_off_is_completed_by_the_same_call(
    servers: tuple[list[MongoStore], MongoDatabase], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "PORTION", 4)
    (store, other), database = servers
    await a_lot(store, turns=21, memories=9, sessions=3)

    with broken_off(store, after=3), pytest.raises(RuntimeError):
        await store.erase(a_scope())
    assert await left_of(database, USER) != {}
    await other.erase(a_scope())

    assert await left_of(database, USER) == {}
    assert await database[SESSIONS].count_documents({}) == 0


async def test_nothing_is_made_of_what_is_being_erased(
    servers: tuple[list[MongoStore], MongoDatabase], clock: ManualClock
) -> None:
    """Another server promotes, claims and settles as fast as it can meanwhile."""
    (store, other), database = servers
    await a_lot(store, turns=60, memories=0, sessions=12)
    over = asyncio.Event()

    async def work_off() -> None:
        for number in range(12):
            if over.is_set():
                return
            snapshot = a_snapshot(1, 5, id=f"snap{number}", session_id=f"s{number}")
            job = a_job(id=f"job{number}", key=f"job{number}")
            try:
                await other.snapshots.promote(snapshot, [job])
                claimed = await other.jobs.claim(
                    worker="w", kinds=[job.kind], now=clock.now(), lease_until=clock.now() + LEASE
                )
                if claimed is not None:
                    new = Add(memory=a_memory(id=f"made{number}"), vector=a_vector(1))
                    await other.memories.apply(PROJECT, [new], space=SPACE, settling=claimed)
            except (AlreadyPromoted, LeaseLost):
                continue

    working = asyncio.create_task(work_off())
    await asyncio.sleep(0)
    await store.erase(a_scope())
    over.set()
    await working

    assert await left_of(database, USER) == {}


async def test_who_writes_meanwhile_is_stored_whole_or_not_at_all(
    servers: tuple[list[MongoStore], MongoDatabase],
) -> None:
    (store, other), database = servers
    await a_lot(store, turns=40, memories=10, sessions=4)

    async def write(number: int) -> str:
        turn = a_turn(session_id=f"s{number % 6}")
        return (await other.turns.append(turn)).id

    results = await asyncio.gather(
        store.erase(a_scope()), *(write(n) for n in range(40)), return_exceptions=True
    )

    assert not [one for one in results if isinstance(one, (MemoryServerError, Exception))]
    async for turn in database[TURNS].find():
        assert await database[SESSIONS].find_one({"session_id": turn["session_id"]}) is not None
    async for session in database[SESSIONS].find():
        last = await database[TURNS].find_one(
            {"session_id": session["session_id"]}, sort=[("turn_seq", -1)]
        )
        assert last is not None
        assert session["last_seq"] == last["turn_seq"]
        waiting = await database[TURNS].count_documents({"session_id": session["session_id"]})
        assert session["unpromoted"] == waiting


async def test_an_archive_that_is_being_taken_in_brings_nobody_back(
    servers: tuple[list[MongoStore], MongoDatabase], clock: ManualClock
) -> None:
    """The transaction sees the database as it was before the erasure, of which it must know."""
    (store, _), database = servers
    memory = a_memory(id="from-before")
    item = ArchivedMemory(memory=memory, root_id=memory.id, vectors=())
    taking = Taking(
        database,
        Arrivals(clock),
        PROJECT,
        [item],
        now=clock.now(),
        restore_erased=False,
        dry_run=False,
    )
    is_erased = asyncio.Event()

    async def take(session: Session) -> Outcome:
        await database[TURNS].find_one({}, session=session)
        if not is_erased.is_set():
            await store.erase(a_scope())
            is_erased.set()
        return (await taking.run(session))[0]

    assert await database.transact(take) is Outcome.ERASED
    assert await left_of(database, USER) == {}


async def test_jobs_whose_owner_went_first_are_deleted_by_the_same_call(
    servers: tuple[list[MongoStore], MongoDatabase], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "PORTION", 4)
    (store, other), database = servers
    await store.jobs.enqueue([a_job(id=f"j{n}", key=f"j{n}") for n in range(11)])

    with broken_off(store, after=2), pytest.raises(RuntimeError):
        await store.erase(a_scope())
    left = await database[JOBS].count_documents({})
    counts = await other.erase(a_scope())

    assert counts["jobs"] == left > 0
    assert await left_of(database, USER) == {}
    assert await database[JOB_OWNERS].count_documents({}) == 0
