"""What every `Snapshots` promises. Each store's test module runs the whole class."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_server.domain.job import Job, JobKind, JobState
from memory_server.errors import AlreadyPromoted, InvalidRequest, SnapshotNotFound
from memory_server.ports.memories import Add
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, SESSION, a_job, a_memory, a_scope, a_snapshot, a_turn

LATER = START + timedelta(hours=1)


async def record(store: Store, count: int, *, at: datetime = START, **changes: Any) -> None:
    """Record some turns of one session."""
    for _ in range(count):
        await store.turns.append(a_turn(created_at=at, **changes))


async def settle(store: Store, *, failed: bool = False) -> Job:
    """Do the next job, or fail at it."""
    kinds = [JobKind.EXTRACT]
    job = await store.jobs.claim(worker="w", kinds=kinds, now=START, lease_until=LATER)
    assert job is not None
    if failed:
        await store.jobs.fail(job, code="MODEL_REFUSED", reason="no", now=START)
    else:
        await store.jobs.complete(job, result={}, now=START)
    return job


async def ripe(store: Store, *, min_turns: int, idle_since: datetime = START) -> list[str]:
    """Return the ids of ripe sessions; nothing is idle since before `START`."""
    states = await store.snapshots.waiting(min_turns=min_turns, idle_since=idle_since, limit=9)
    return [state.session_id for state in states]


BEFORE = START - timedelta(seconds=1)


class SnapshotsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_session_without_turns_has_no_state(self, store: Store) -> None:
        assert await store.snapshots.session(PROJECT, SESSION) is None

    async def test_a_session_knows_its_last_turn_and_activity(self, store: Store) -> None:
        await record(store, 2)
        await record(store, 1, at=LATER)

        state = await store.snapshots.session(PROJECT, SESSION)

        assert state is not None
        assert (state.last_seq, state.promoted_seq, state.unpromoted) == (3, 0, 3)
        assert state.last_activity == LATER

    async def test_a_session_with_enough_turns_is_ripe(self, store: Store) -> None:
        await record(store, 3, session_id="full")
        await record(store, 2, session_id="short")

        assert await ripe(store, min_turns=3, idle_since=BEFORE) == ["full"]

    async def test_an_idle_session_is_ripe_with_one_turn(self, store: Store) -> None:
        await record(store, 1, session_id="idle")
        await record(store, 1, session_id="busy", at=LATER)

        assert await ripe(store, min_turns=9, idle_since=START) == ["idle"]

    async def test_a_session_without_waiting_turns_is_never_ripe(self, store: Store) -> None:
        await record(store, 1)
        await store.snapshots.promote(a_snapshot(), [])

        assert await ripe(store, min_turns=0, idle_since=LATER) == []

    async def test_the_session_that_waits_longest_comes_first(self, store: Store) -> None:
        for minutes in (2, 0, 1):
            at = START + timedelta(minutes=minutes)
            await record(store, 1, at=at, session_id=f"since {minutes}")

        assert await ripe(store, min_turns=1) == ["since 0", "since 1", "since 2"]

    async def test_ripe_sessions_are_read_page_by_page(self, store: Store) -> None:
        for number in range(5):
            await record(store, 1, session_id=f"session {number}")

        pages = [
            await store.snapshots.waiting(min_turns=1, idle_since=BEFORE, limit=2, skip=skip)
            for skip in (0, 2, 4, 6)
        ]

        found = [[state.session_id for state in page] for page in pages]
        assert found == [
            ["session 0", "session 1"],
            ["session 2", "session 3"],
            ["session 4"],
            [],
        ]

    async def test_sessions_of_busy_users_can_be_left_out(self, store: Store) -> None:
        for user in ("ana", "bob", None):
            await record(store, 1, session_id=f"of {user}", user_id=user)
        await store.jobs.enqueue([a_job(user_id=user) for user in ("ana", "ana", "bob", None)])

        async def left(busy_at: int) -> list[str]:
            states = await store.snapshots.waiting(
                min_turns=1, idle_since=BEFORE, limit=9, busy_at=busy_at
            )
            return [state.session_id for state in states]

        assert await left(3) == ["of None", "of ana", "of bob"]
        assert await left(2) == ["of None", "of bob"]
        assert await left(1) == []

    async def test_promotion_makes_the_turns_part_of_the_snapshot(self, store: Store) -> None:
        await record(store, 4)
        snapshot = a_snapshot(1, 3)

        await store.snapshots.promote(snapshot, [])

        turns = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)
        assert [turn.snapshot_id for turn in turns] == [snapshot.id] * 3 + [None]
        assert await store.snapshots.get(PROJECT, snapshot.id) == snapshot

    async def test_promotion_queues_the_jobs(self, store: Store) -> None:
        await record(store, 1)
        jobs = [a_job(payload={"type": kind}) for kind in ("semantic", "episodic")]

        await store.snapshots.promote(a_snapshot(), jobs)

        assert {job.id for job in await store.jobs.list(PROJECT)} == {job.id for job in jobs}

    async def test_the_next_snapshot_begins_where_the_last_one_ended(self, store: Store) -> None:
        await record(store, 4)
        await store.snapshots.promote(a_snapshot(1, 2), [])

        await store.snapshots.promote(a_snapshot(3, 4), [])

        state = await store.snapshots.session(PROJECT, SESSION)
        assert state is not None
        assert state.unpromoted == 0

    @pytest.mark.parametrize(
        ("first_seq", "last_seq"),
        [(1, 3), (2, 3), (4, 4), (3, 5), (4, 3), (3, 2)],
        ids=["again", "overlapping", "gap", "beyond the end", "backwards", "empty"],
    )
    async def test_a_snapshot_that_does_not_fit_writes_nothing(
        self, store: Store, first_seq: int, last_seq: int
    ) -> None:
        await record(store, 4)
        await store.snapshots.promote(a_snapshot(1, 2), [])

        snapshot = a_snapshot(first_seq, last_seq)
        with pytest.raises(AlreadyPromoted):
            await store.snapshots.promote(snapshot, [a_job()])

        assert await store.jobs.list(PROJECT) == []
        with pytest.raises(SnapshotNotFound):
            await store.snapshots.get(PROJECT, snapshot.id)

    async def test_a_session_that_does_not_exist_cannot_be_promoted(self, store: Store) -> None:
        with pytest.raises(AlreadyPromoted):
            await store.snapshots.promote(a_snapshot(), [])

    async def test_of_concurrent_promotions_of_the_same_turns_one_wins(self, store: Store) -> None:
        await record(store, 2)

        results = await asyncio.gather(
            *(store.snapshots.promote(a_snapshot(1, 2), [a_job()]) for _ in range(8)),
            return_exceptions=True,
        )

        assert [type(one) for one in results if one is not None] == [AlreadyPromoted] * 7
        assert len(await store.jobs.list(PROJECT)) == 1

    async def test_a_promotion_that_fails_on_its_way_leaves_nothing(self, store: Store) -> None:
        await record(store, 2)
        broken = a_job(payload={"type": "semantic", "score": float("nan")})

        snapshot = a_snapshot(1, 2)
        with pytest.raises(InvalidRequest):
            await store.snapshots.promote(snapshot, [a_job(), broken])

        assert await store.jobs.list(PROJECT) == []
        assert await ripe(store, min_turns=2) == [SESSION]
        turns = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=2)
        assert [turn.snapshot_id for turn in turns] == [None, None]

    async def test_promoted_turns_stay_while_a_job_waits(self, store: Store) -> None:
        await record(store, 2)
        await store.snapshots.promote(a_snapshot(1, 2), [a_job(), a_job()])
        await settle(store)

        assert await store.snapshots.delete_promoted_turns(limit=9) == 0

    async def test_promoted_turns_stay_when_a_job_failed(self, store: Store) -> None:
        await record(store, 2)
        await store.snapshots.promote(a_snapshot(1, 2), [a_job()])
        await settle(store, failed=True)

        assert await store.snapshots.delete_promoted_turns(limit=9) == 0

    async def test_promoted_turns_go_when_all_jobs_are_done(self, store: Store) -> None:
        await record(store, 3)
        await store.snapshots.promote(a_snapshot(1, 2), [a_job()])
        await settle(store)

        assert await store.snapshots.delete_promoted_turns(limit=9) == 2

        left = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)
        assert [turn.turn_seq for turn in left] == [3]
        assert (await store.turns.append(a_turn())).turn_seq == 4

    async def test_promoted_turns_go_in_portions(self, store: Store) -> None:
        await record(store, 3)
        await store.snapshots.promote(a_snapshot(1, 3), [])

        gone = [await store.snapshots.delete_promoted_turns(limit=2) for _ in range(3)]

        assert gone == [2, 1, 0]

    async def test_an_old_snapshot_goes_with_its_turns_and_finished_jobs(
        self, store: Store
    ) -> None:
        await record(store, 2)
        snapshot = a_snapshot(1, 1)
        await store.snapshots.promote(snapshot, [a_job()])
        await settle(store)

        assert await store.snapshots.expire(before=LATER, limit=9) == 1

        assert await store.jobs.list(PROJECT) == []
        left = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9)
        assert [turn.turn_seq for turn in left] == [2]
        with pytest.raises(SnapshotNotFound):
            await store.snapshots.get(PROJECT, snapshot.id)

    async def test_a_snapshot_is_not_old_at_the_moment_itself(self, store: Store) -> None:
        await record(store, 1)
        await store.snapshots.promote(a_snapshot(), [])

        assert await store.snapshots.expire(before=START, limit=9) == 0

    @pytest.mark.parametrize("failed", [True, False], ids=["failed", "waiting"])
    async def test_an_old_snapshot_with_unfinished_work_stays(
        self, store: Store, *, failed: bool
    ) -> None:
        await record(store, 1)
        await store.snapshots.promote(a_snapshot(), [a_job()])
        if failed:
            await settle(store, failed=True)

        assert await store.snapshots.expire(before=LATER, limit=9) == 0

    async def test_done_jobs_of_no_snapshot_expire_too(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job(), a_job()])
        await settle(store)
        await settle(store, failed=True)

        assert await store.snapshots.expire(before=LATER, limit=9) == 1

        states = [job.state for job in await store.jobs.list(PROJECT)]
        assert states == [JobState.QUEUED, JobState.FAILED]

    async def test_a_job_is_not_old_at_the_moment_itself(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        await settle(store)

        assert await store.snapshots.expire(before=START, limit=9) == 0

    async def test_done_jobs_of_a_snapshot_stay_as_long_as_it_does(self, store: Store) -> None:
        await record(store, 1)
        await store.snapshots.promote(a_snapshot(created_at=LATER), [a_job()])
        await settle(store)

        assert await store.snapshots.expire(before=LATER, limit=9) == 0

        assert len(await store.jobs.list(PROJECT)) == 1

    async def test_snapshots_and_jobs_expire_in_portions_until_none_is_left(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job(user_id=f"user {n}") for n in range(3)])
        for _ in range(3):
            await settle(store)
        await record(store, 2)
        for number in (1, 2):
            await store.snapshots.promote(a_snapshot(number, number), [])

        gone = [await store.snapshots.expire(before=LATER, limit=2) for _ in range(4)]

        assert gone == [2, 2, 1, 0]

    async def test_expiry_never_touches_long_term_memory(self, store: Store) -> None:
        memory = a_memory()
        await store.memories.apply(PROJECT, [Add(memory=memory)])
        await record(store, 1)
        await store.snapshots.promote(a_snapshot(), [])

        await store.snapshots.expire(before=LATER, limit=9)

        assert (await store.memories.get(a_scope(), memory.id)).id == memory.id

    async def test_snapshots_expire_in_portions_the_oldest_first(self, store: Store) -> None:
        await record(store, 2)
        new = a_snapshot(2, 2, created_at=START + timedelta(minutes=1))
        await store.snapshots.promote(a_snapshot(1, 1), [])
        await store.snapshots.promote(new, [])

        assert await store.snapshots.expire(before=LATER, limit=1) == 1

        assert await store.snapshots.get(PROJECT, new.id) == new
