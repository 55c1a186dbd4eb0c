"""Who erases their part of a conversation does not stop what others said in it.

Each store's test module runs the whole class.
"""

from datetime import timedelta

import pytest

from memory_server.domain.snapshot import SessionState
from memory_server.errors import AlreadyPromoted, SnapshotNotFound
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, SESSION, a_job, a_scope, a_snapshot, a_turn

LATER = START + timedelta(hours=1)


async def converse(store: Store, *speakers: str) -> None:
    """Let these users speak one after the other, a second apart."""
    for number, user in enumerate(speakers):
        at = START + timedelta(seconds=number)
        await store.turns.append(a_turn(user_id=user, created_at=at))


async def state(store: Store) -> SessionState:
    """Return the state of the session."""
    found = await store.snapshots.session(PROJECT, SESSION)
    assert found is not None
    return found


async def ripe(store: Store, *, min_turns: int) -> bool:
    """Whether the session is ripe by the number of its turns."""
    idle_since = START - timedelta(days=1)
    return bool(await store.snapshots.waiting(min_turns=min_turns, idle_since=idle_since, limit=9))


class SharedSessionsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_what_others_said_after_the_erased_turns_can_be_promoted(
        self, store: Store
    ) -> None:
        await converse(store, "ana", "ana", "bob", "bob")

        await store.erase(a_scope())

        assert ((await state(store)).promoted_seq, (await state(store)).unpromoted) == (2, 2)
        await store.snapshots.promote(a_snapshot(3, 4, user_id="bob"), [])
        assert (await state(store)).unpromoted == 0

    async def test_erased_turns_between_two_runs_are_skipped(self, store: Store) -> None:
        await converse(store, "bob", *["ana"] * 40, "bob")
        await store.erase(a_scope())

        await store.snapshots.promote(a_snapshot(1, 1, user_id="bob"), [])

        assert ((await state(store)).promoted_seq, (await state(store)).unpromoted) == (41, 1)
        await store.snapshots.promote(a_snapshot(42, 42, user_id="bob"), [])
        assert (await state(store)).unpromoted == 0

    async def test_erased_turns_within_a_run_are_skipped(self, store: Store) -> None:
        await converse(store, "bob", "ana", "bob")
        await store.erase(a_scope())

        await store.snapshots.promote(snapshot := a_snapshot(1, 3, user_id="bob"), [])

        run = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=3)
        assert [(turn.turn_seq, turn.snapshot_id) for turn in run] == [
            (1, snapshot.id),
            (3, snapshot.id),
        ]

    async def test_a_session_of_which_only_promoted_turns_are_left_waits_for_nothing(
        self, store: Store
    ) -> None:
        await converse(store, "bob", "ana", "ana")
        await store.snapshots.promote(a_snapshot(1, 1, user_id="bob"), [])

        await store.erase(a_scope())

        assert (await state(store)).unpromoted == 0
        assert not await ripe(store, min_turns=0)
        assert (await store.turns.append(a_turn(user_id="bob"))).turn_seq == 4

    async def test_a_session_waits_since_the_first_turn_that_is_left(self, store: Store) -> None:
        await converse(store, "ana", "bob")
        between = START + timedelta(milliseconds=500)
        await store.turns.append(a_turn(session_id="other", user_id="cem", created_at=between))

        await store.erase(a_scope())

        waiting = await store.snapshots.waiting(min_turns=1, idle_since=START, limit=9)
        assert [one.session_id for one in waiting] == ["other", SESSION]

    async def test_erased_turns_make_no_session_ripe(self, store: Store) -> None:
        await converse(store, "bob", "ana", "ana", "bob")
        assert await ripe(store, min_turns=3)

        await store.erase(a_scope())

        assert not await ripe(store, min_turns=3)
        assert await ripe(store, min_turns=2)

    @pytest.mark.parametrize(("first", "last"), [(1, 1), (2, 2), (1, 3), (3, 4), (2, 3)])
    async def test_a_promotion_of_turns_erased_meanwhile_writes_nothing(
        self, store: Store, first: int, last: int
    ) -> None:
        await converse(store, "ana", "ana", "bob", "ana")
        await store.erase(a_scope())
        before = await state(store)

        snapshot = a_snapshot(first, last)
        with pytest.raises(AlreadyPromoted):
            await store.snapshots.promote(snapshot, [a_job()])

        assert await state(store) == before
        assert await store.jobs.list(PROJECT) == []
        with pytest.raises(SnapshotNotFound):
            await store.snapshots.get(PROJECT, snapshot.id)

    async def test_a_run_can_be_read_over_erased_turns(self, store: Store) -> None:
        await converse(store, "bob", *["ana"] * 5, "bob", "bob")
        await store.erase(a_scope())

        run = await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=99, limit=2)

        assert [turn.turn_seq for turn in run] == [1, 7]
