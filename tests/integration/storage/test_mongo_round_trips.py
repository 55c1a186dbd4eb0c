"""How many commands the calls of the busy ports send: each is a way to the database and back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from datetime import timedelta
from typing import Any

import pymongo
import pytest
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from memory_server.domain.job import Job, JobKind
from memory_server.ports.memories import Add
from memory_server.storage.mongo import MongoDatabase
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.database import AT_ONCE
from memory_server.storage.mongo.indexes import INDEXES
from memory_server.storage.mongo.jobs import MongoJobs
from memory_server.storage.mongo.memories import MongoMemories
from memory_server.storage.mongo.schema import create_indexes
from memory_server.storage.mongo.snapshots import MongoSnapshots
from memory_server.storage.mongo.turns import MongoTurns
from tests.clock import START, ManualClock
from tests.factories import PROJECT, SPACE, a_job, a_memory, a_snapshot, a_turn, a_vector
from tests.mongo import a_database

LEASE = START + timedelta(minutes=1)


class Heard(CommandListener):
    """Keeps what the clients send that are made after it."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        target = event.command[event.command_name]
        named = [event.command_name, *([target] if isinstance(target, str) else [])]
        self.commands.append(" ".join(named))

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Hear nothing: what is sent counts."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Hear nothing: what is sent counts."""


class Ports:
    """The busy ports over one database, without an index that follows what they do."""

    def __init__(self, database: MongoDatabase, clock: ManualClock, heard: Heard) -> None:
        arrivals = Arrivals(clock)
        self._heard = heard
        self.turns = MongoTurns(database, arrivals)
        self.jobs = MongoJobs(database, arrivals)
        self.snapshots = MongoSnapshots(database, arrivals)
        self.memories = MongoMemories(database, clock, arrivals)

    async def sent_by(self, call: Awaitable[Any]) -> Sequence[str]:
        """Return the commands of a call."""
        self._heard.commands.clear()
        await call
        return [*self._heard.commands]

    async def claimed(self) -> Job:
        """Hand out a job that is due."""
        job = await self.claim()
        assert job is not None
        return job

    def claim(self) -> Awaitable[Job | None]:
        """Ask for a job."""
        return self.jobs.claim(worker="w", kinds=[*JobKind], now=START, lease_until=LEASE)


@pytest.fixture
async def ports(mongodb: str, clock: ManualClock) -> AsyncIterator[Ports]:
    heard = Heard()
    pymongo.monitoring.register(heard)
    with a_database(mongodb) as name:
        database = MongoDatabase(mongodb, name)
        await database.open()
        await create_indexes(database, {name: [] for name in INDEXES})
        yield Ports(database, clock, heard)
        await database.close()


async def test_a_turn_takes_its_counter_itself_and_a_commit(ports: Ports) -> None:
    await ports.turns.append(a_turn())

    sent = await ports.sent_by(ports.turns.append(a_turn(idempotency_key="key")))

    assert sent == ["findAndModify session_counters", "insert memory_turns", "commitTransaction"]


async def test_the_first_turn_of_a_session_goes_by_the_gate(ports: Ports) -> None:
    sent = await ports.sent_by(ports.turns.append(a_turn()))

    assert len(sent) == 4
    assert "findAndModify project_gates" in sent


async def test_vectors_of_many_turns_are_one_update(ports: Ports) -> None:
    turns = [await ports.turns.append(a_turn()) for _ in range(3)]
    vectors = {turn.id: a_vector(1, 2, 3, 4) for turn in turns}

    sent = await ports.sent_by(ports.turns.set_vectors(PROJECT, vectors, SPACE))

    assert sent == ["update memory_turns", "commitTransaction"]


async def test_a_claim_finds_what_waits_and_takes_it(ports: Ports) -> None:
    await ports.jobs.enqueue([a_job(), a_job()])

    sent = await ports.sent_by(ports.claimed())

    assert sent == [
        "find memory_jobs",
        "find memory_job_owners",
        "findAndModify memory_jobs",
        "find memory_job_owners",
        "find memory_jobs",
        "update memory_job_owners",
        "commitTransaction",
    ]


async def test_who_finds_nothing_to_do_begins_no_transaction(ports: Ports) -> None:
    await ports.jobs.enqueue([a_job(due_at=LEASE)])

    sent = await ports.sent_by(ports.claim())

    assert sent == ["find memory_jobs", "find memory_job_owners"]


async def test_a_job_by_itself_is_settled_without_a_look_at_others(ports: Ports) -> None:
    await ports.jobs.enqueue([a_job(kind=JobKind.EMBED)])
    job = await ports.claimed()

    extended = await ports.sent_by(ports.jobs.extend(job, lease_until=LEASE))
    completed = await ports.sent_by(ports.jobs.complete(job, result={}, now=START))

    assert (
        extended
        == completed
        == [
            "findAndModify memory_jobs",
            "find memory_jobs",
            "update memory_job_owners",
            "commitTransaction",
        ]
    )


async def test_a_job_of_a_queue_is_settled_with_a_look_at_the_next(ports: Ports) -> None:
    await ports.jobs.enqueue([a_job(), a_job()])
    job = await ports.claimed()

    sent = await ports.sent_by(ports.jobs.complete(job, result={}, now=START))

    assert len(sent) <= 7
    assert sent.count("update memory_jobs") == 1


async def test_a_promotion_looks_at_its_run_once_and_at_the_heads_of_queues_once(
    ports: Ports,
) -> None:
    await ports.jobs.enqueue([a_job()])
    await ports.turns.append(a_turn())
    await ports.turns.append(a_turn())
    jobs = [a_job(payload={"type": kind}) for kind in ("semantic", "episodic", "taxonomic")]

    sent = await ports.sent_by(ports.snapshots.promote(a_snapshot(1, 2), jobs))

    assert sent == [
        "find session_counters",
        "find memory_turns",
        "insert memory_snapshots",
        "update memory_turns",
        "find memory_turns",
        "update session_counters",
        "find memory_jobs",
        "find memory_job_owners",
        "find memory_jobs",
        "insert memory_jobs",
        "find memory_jobs",
        "update memory_job_owners",
        "commitTransaction",
    ]


async def test_memories_are_added_by_one_insert_behind_the_gate(ports: Ports) -> None:
    adds = [Add(memory=a_memory(user_id="ana")) for _ in range(3)]

    sent = await ports.sent_by(ports.memories.apply(PROJECT, adds))

    assert sent == ["findAndModify project_gates", "insert memory_semantic", "commitTransaction"]


async def test_more_writers_than_there_is_room_for_wait_and_are_all_served(ports: Ports) -> None:
    writers = [ports.turns.append(a_turn(session_id=f"s{n}")) for n in range(3 * AT_ONCE)]

    stored = await asyncio.gather(*writers)

    assert [turn.turn_seq for turn in stored] == [1] * len(writers)
