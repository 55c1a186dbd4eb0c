"""No moment, however far, makes what is stored unreadable. Each store runs the whole class."""

from datetime import UTC, datetime, timedelta

import pytest

from memory_server.domain.job import JobKind
from memory_server.domain.memory import EventTime, Evidence
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.search import LEGS, a_selection, ids
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_job,
    a_memory,
    a_scope,
    a_snapshot,
    a_turn,
    a_vector,
    an_account,
)

FAR = [
    datetime.fromisoformat(text)
    for text in (
        "0001-01-01T00:00:00+00:00",
        "0001-01-01T00:00:00+14:00",
        "0001-12-31T23:59:59-12:00",
        "9999-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.999999+00:00",
        "9999-12-31T23:59:59-12:00",
    )
]
"""Moments at the edge of what a date can be; some of them have no name in UTC."""

YEAR = timedelta(days=365)


def usable(moment: datetime | None) -> bool:
    """Whether a moment can be reckoned with, or raise `OverflowError`."""
    assert moment is not None
    return (moment.astimezone(UTC) - YEAR) < (moment.astimezone(UTC) + YEAR)


@pytest.mark.parametrize("far", FAR, ids=str)
class MomentsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_turn_can_be_read(self, store: Store, far: datetime) -> None:
        await store.turns.append(a_turn(event_time=far, created_at=far))

        (turn,) = await store.turns.recent(a_scope(), limit=9)

        assert usable(turn.event_time)
        assert usable(turn.created_at)

    async def test_a_memory_can_be_read(self, store: Store, far: datetime) -> None:
        evidence = Evidence(
            snapshot_id="s",
            session_id=SESSION,
            turn_ids=(),
            extractor="rules",
            learned_at=far,
            event_time=far,
        )
        event = EventTime(start=far, end=far, words="then")
        memory = a_memory(at=far, valid_to=far, event_time=event, evidence=(evidence,))
        await store.memories.apply(PROJECT, [Add(memory=memory)])

        (read,) = await store.memories.find(a_scope(), MemoryQuery())

        assert read.event_time is not None
        (learned,) = read.evidence
        times = [read.created_at, read.updated_at, read.valid_from, read.valid_to]
        times += [read.event_time.start, read.event_time.end]
        assert all(usable(one) for one in [*times, learned.learned_at, learned.event_time])

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_search_finds_what_held_since(
        self, store: Store, far: datetime, leg: str
    ) -> None:
        memory = a_memory(at=far)
        add = Add(memory=memory, vector=a_vector(1))
        await store.memories.apply(PROJECT, [add], space=SPACE)

        assert await ids(store, leg, a_selection(as_of=far)) == [memory.id]

    async def test_work_can_be_read(self, store: Store, far: datetime) -> None:
        await store.turns.append(a_turn())
        snapshot = a_snapshot(created_at=far)
        await store.snapshots.promote(snapshot, [a_job(created_at=far, due_at=far)])
        await store.jobs.claim(worker="w", kinds=list(JobKind), now=far, lease_until=far)

        (job,) = await store.jobs.list(PROJECT)
        read = await store.snapshots.get(PROJECT, snapshot.id)

        assert all(usable(one) for one in (job.created_at, job.due_at, job.lease_until))
        assert usable(read.created_at)

    async def test_an_account_can_be_read(self, store: Store, far: datetime) -> None:
        await store.accounts.add(account := an_account())
        await store.accounts.touch(account.client_id, max(far, START))

        (read,) = await store.accounts.list(PROJECT)

        assert usable(read.last_used_at)
