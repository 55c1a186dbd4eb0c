"""An archive meets what is there already: other things, later ones, and erasures."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.archive import (
    ArchivedJob,
    ArchivedMemory,
    ArchivedSnapshot,
    ArchivedTurn,
    Outcome,
)
from memory_server.domain.scope import Scope
from memory_server.errors import ProjectNotFound
from memory_server.ports.memories import Add, Replace
from memory_server.ports.store import Store
from tests.clock import ManualClock
from tests.conformance.archive import ALL, LATER, WHOLE, exported, held, moved, populate
from tests.factories import (
    PROJECT,
    SESSION,
    a_fact,
    a_job,
    a_memory,
    a_project,
    a_scope,
    a_snapshot,
    a_turn,
)


class ArchiveStandingContract:
    """A subclass provides the fixtures `store`, open and empty, and `clock`, which it uses."""

    async def test_what_waits_is_promoted_where_it_comes_to(self, store: Store) -> None:
        await populate(store)
        await moved(store, await exported(store), "copy")

        waiting = await store.snapshots.waiting(min_turns=1, idle_since=LATER, limit=99)

        mine = {one.session_id: one.unpromoted for one in waiting if one.project_id == "copy"}
        assert mine == {SESSION: 2, "bobs": 1, "nobodys": 1}

    async def test_a_session_goes_on_where_it_was(self, store: Store) -> None:
        await populate(store)
        await moved(store, await exported(store), "copy")

        turn = await store.turns.append(a_turn(project_id="copy", idempotency_key="key-3"))
        new = await store.turns.append(a_turn("And on", project_id="copy"))

        assert turn.content == "Said 3 of Lisbon"
        assert new.turn_seq == 7

    async def test_turns_promoted_between_two_portions_are_all_promoted(self, store: Store) -> None:
        for number in range(1, 5):
            await store.turns.append(a_turn(f"turn {number}"))
        items = await exported(store)
        await moved(store, items[:3], "copy")
        await store.snapshots.promote(a_snapshot(1, 2, project_id="copy"), [])

        await moved(store, items, "copy")

        session = await store.snapshots.session("copy", SESSION)
        assert session is not None
        assert (session.promoted_seq, session.last_seq) == (2, 4)
        await store.snapshots.promote(a_snapshot(3, 4, project_id="copy"), [])

    async def test_promoted_turns_are_not_tidied_away_before_their_work_is_there(
        self, store: Store
    ) -> None:
        await populate(store)
        items = await exported(store)
        turns = [one for one in items if not isinstance(one, ArchivedSnapshot | ArchivedJob)]
        await moved(store, turns, "copy")

        await store.snapshots.delete_promoted_turns(limit=99)
        await moved(store, items, "copy")

        assert len(await store.turns.run("copy", SESSION, first_seq=1, last_seq=9)) == 6

    async def test_promoted_turns_that_were_tidied_away_do_not_come_back(
        self, store: Store
    ) -> None:
        await store.turns.append(a_turn())
        items = await exported(store)
        await moved(store, items, "copy")
        await store.snapshots.promote(a_snapshot(1, 1, project_id="copy"), [])
        await store.snapshots.delete_promoted_turns(limit=9)

        outcomes = await moved(store, items, "copy")

        assert set(outcomes) == {Outcome.KNOWN}
        assert await store.turns.run("copy", SESSION, first_seq=1, last_seq=9) == []

    async def test_a_memory_that_went_on_here_stays_as_it_is(self, store: Store) -> None:
        memory = a_memory(id="m")
        await store.memories.apply(PROJECT, [Add(memory=memory)])
        items = await exported(store)
        newer = replace(memory, body=a_fact(text="newer"), revision=2)
        await store.memories.apply(PROJECT, [Replace(memory=newer)])

        assert await store.archive.write(PROJECT, items) == [Outcome.KNOWN]

        assert (await store.memories.get(a_scope(), "m")).body == newer.body

    async def test_what_differs_here_is_left_alone_and_told(self, store: Store) -> None:
        await store.turns.append(a_turn("theirs"))
        await store.memories.apply(PROJECT, [Add(memory=a_memory(id="m", identity_key="i"))])
        items = await exported(store)
        mine = await store.turns.append(a_turn("mine", project_id="copy"))
        same = a_memory(id="other", identity_key="i", project_id="copy")
        await store.memories.apply("copy", [Add(memory=same)])

        outcomes = await moved(store, items, "copy")

        assert outcomes == [Outcome.CONFLICT, Outcome.KNOWN, Outcome.CONFLICT]
        assert await store.turns.run("copy", SESSION, first_seq=1, last_seq=9) == [mine]
        assert [one.id for one in await store.memories.find(Scope(project_id="copy"), ALL)] == [
            "other"
        ]

    async def test_a_snapshot_does_not_take_turns_that_are_not_its_own(self, store: Store) -> None:
        await store.turns.append(a_turn("theirs"))
        await store.snapshots.promote(a_snapshot(1, 1), [a_job()])
        items = await exported(store)
        await store.turns.append(a_turn("mine", project_id="copy"))

        outcomes = await moved(store, items, "copy")

        assert outcomes == [Outcome.KNOWN, Outcome.CONFLICT, Outcome.CONFLICT]
        assert await store.jobs.list("copy") == []
        session = await store.snapshots.session("copy", SESSION)
        assert session is not None
        assert session.unpromoted == 1

    async def test_a_former_version_does_not_come_under_the_memory_of_another_user(
        self, store: Store
    ) -> None:
        await store.memories.apply(PROJECT, [Add(memory=a_memory(id="bobs", user_id="bob"))])
        await store.memories.apply(PROJECT, [Add(memory=a_memory(id="m"))])
        former = a_memory(id="former", is_latest=False, valid_to=LATER)
        under = ArchivedMemory(memory=former, root_id="m")
        item = ArchivedMemory(memory=replace(former, id="f-2"), root_id="former")

        outcomes = await store.archive.write(PROJECT, [replace(under, root_id="bobs"), under, item])

        assert outcomes == [Outcome.CONFLICT, Outcome.NEW, Outcome.CONFLICT]
        history = await store.memories.history(Scope(project_id=PROJECT), "bobs")
        assert [one.id for one in history] == ["bobs"]

    async def test_a_snapshot_does_not_take_turns_of_another_user(self, store: Store) -> None:
        await store.turns.append(a_turn("of ana"))
        items = [
            replace(one, snapshot_follows=True, turn=replace(one.turn, snapshot_id="s-1"))
            for one in await exported(store)
            if isinstance(one, ArchivedTurn)
        ]
        await moved(store, items, "copy")
        bobs = a_snapshot(1, 1, id="s-1", project_id="copy", user_id="bob")

        outcomes = await store.archive.write("copy", [ArchivedSnapshot(snapshot=bobs)])

        assert outcomes == [Outcome.CONFLICT]

    async def test_all_of_a_portion_is_taken_or_nothing(self, store: Store) -> None:
        await store.turns.append(a_turn())
        items = await exported(store)
        foreign = ArchivedMemory(memory=a_memory(project_id="bank"), root_id="m")

        with pytest.raises(ValueError, match="another"):
            await store.archive.write(PROJECT, [*items, foreign])

    async def test_an_erased_user_does_not_come_back(
        self, store: Store, clock: ManualClock
    ) -> None:
        await populate(store)
        items = await exported(store)
        clock.advance(by=timedelta(hours=2))
        await store.erase(a_scope())

        outcomes = await store.archive.write(PROJECT, items)

        assert set(outcomes) == {Outcome.ERASED, Outcome.KNOWN}
        assert await exported(store, replace(WHOLE, user_id="ana")) == []

    async def test_an_erased_project_does_not_come_back(
        self, store: Store, clock: ManualClock
    ) -> None:
        await populate(store)
        items = await exported(store)
        clock.advance(by=timedelta(hours=2))
        await store.erase(Scope(project_id=PROJECT))

        assert set(await store.archive.write(PROJECT, items)) == {Outcome.ERASED}

        assert await exported(store) == []

    async def test_erased_things_come_back_when_that_is_said(
        self, store: Store, clock: ManualClock
    ) -> None:
        await populate(store)
        before = await held(store, PROJECT)
        items = await exported(store)
        clock.advance(by=timedelta(hours=2))
        await store.erase(Scope(project_id=PROJECT))

        await store.archive.write(PROJECT, items, restore_erased=True)

        assert await held(store, PROJECT) == before

    async def test_what_is_made_after_an_erasure_comes_back(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.erase(a_scope())
        clock.advance(by=timedelta(hours=2))
        await store.turns.append(a_turn(created_at=clock.now()))
        items = await exported(store)
        await store.erase(a_scope(user_id="bob"))

        assert await store.archive.write(PROJECT, items) == [Outcome.KNOWN] * 2

    async def test_an_erasure_is_remembered_after_a_restart(
        self, store: Store, clock: ManualClock
    ) -> None:
        if (await store.describe())["location"] == ":memory:":
            pytest.skip("a store in memory forgets all when it is closed")
        await store.turns.append(a_turn())
        items = await exported(store)
        clock.advance(by=timedelta(hours=2))
        await store.erase(a_scope())
        await store.close()
        await store.open()

        assert set(await store.archive.write(PROJECT, items)) == {Outcome.ERASED}

    async def test_others_in_an_erased_users_session_come_back(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.turns.append(a_turn("of ana"))
        bobs = await store.turns.append(a_turn("of bob", user_id="bob"))
        items = await exported(store)
        clock.advance(by=timedelta(hours=2))
        await store.erase(Scope(project_id=PROJECT, user_id="bob"))
        await store.erase(a_scope())
        await store.archive.write(PROJECT, items, restore_erased=True)
        await store.erase(a_scope())

        await store.archive.write(PROJECT, items)

        assert await store.turns.run(PROJECT, SESSION, first_seq=1, last_seq=9) == [bobs]
        session = await store.snapshots.session(PROJECT, SESSION)
        assert session is not None
        assert session.user_id == "bob"

    async def test_a_project_that_is_there_again_takes_what_is_older_than_it(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.projects.add(a_project(id="copy", name="copy"))
        await store.projects.remove("copy")
        await populate(store)
        items = await exported(store)
        with pytest.raises(ProjectNotFound):
            await moved(store, items, "copy")
        clock.advance(by=timedelta(hours=2))
        await store.projects.add(a_project(id="copy", name="copy", created_at=clock.now()))

        assert set(await moved(store, items, "copy")) == {Outcome.NEW}

        with pytest.raises(ProjectNotFound):
            await store.turns.append(a_turn(project_id="copy", session_id="late"))
