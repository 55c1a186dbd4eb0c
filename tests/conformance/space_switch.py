"""What every `Spaces` promises of the switch and of what comes after it."""

import asyncio
from dataclasses import replace

import pytest

from memory_server.domain.job import JobKind, JobState
from memory_server.errors import LeaseLost
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.spaces import Given, Switch
from memory_server.ports.store import Store
from tests.conformance.spaces import (
    LATER,
    NEW,
    OLD,
    THIRD,
    begin,
    claim,
    drop_all,
    found,
    give,
    ids,
    know,
    missing,
    refuse,
    say,
    work,
)
from tests.factories import OTHER_SPACE, PROJECT, SPACE, a_scope, a_vector


class SpaceSwitchContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_nothing_switches_while_something_is_missing(self, store: Store) -> None:
        turn, memory = await say(store), await know(store)
        job = await begin(store)
        await give(store, turn)

        assert await store.spaces.switch(job, now=LATER) is Switch.MISSING

        assert (await store.spaces.look()).active == OLD
        assert [one.state for one in await store.jobs.list(PROJECT)] == [JobState.RUNNING]
        await give(store, memory)
        assert await store.spaces.switch(job, now=LATER) is Switch.DONE

    async def test_a_switch_lets_the_target_answer_and_settles_the_job(self, store: Store) -> None:
        await give(store, await say(store))
        job = await begin(store)

        await store.spaces.switch(replace(job, result={"outcome": "switched"}), now=LATER)

        spaces = await store.spaces.look()
        assert (spaces.active, spaces.target, spaces.changed_at) == (NEW, None, LATER)
        (settled,) = await store.jobs.list(PROJECT)
        assert (settled.state, settled.result) == (JobState.DONE, {"outcome": "switched"})

    async def test_a_switch_by_a_worker_that_lost_its_lease_changes_nothing(
        self, store: Store
    ) -> None:
        await give(store, await say(store))
        job = await begin(store)
        await store.jobs.claim(
            worker="other", kinds=[JobKind.REEMBED], now=LATER, lease_until=LATER
        )

        with pytest.raises(LeaseLost):
            await store.spaces.switch(job, now=LATER)

        assert (await store.spaces.look()).active == OLD

    async def test_the_job_of_a_former_target_switches_nothing(self, store: Store) -> None:
        await give(store, await say(store))
        job = await begin(store)
        await store.spaces.begin(THIRD, work(), now=LATER)

        assert await store.spaces.switch(job, now=LATER) is Switch.CHANGED

        spaces = await store.spaces.look()
        assert (spaces.active, spaces.target) == (OLD, THIRD)

    async def test_one_of_many_switches_wins(self, store: Store) -> None:
        await give(store, await say(store))
        job = await begin(store)

        outcomes = await asyncio.gather(
            *(store.spaces.switch(job, now=LATER) for _ in range(4)), return_exceptions=True
        )

        assert outcomes.count(Switch.DONE) == 1
        assert (await store.spaces.look()).active == NEW

    async def test_outdated_vectors_are_removed_in_portions(self, store: Store) -> None:
        said = [await say(store) for _ in range(5)]
        await give(store, *said)
        await store.spaces.switch(await begin(store), now=LATER)

        assert await store.spaces.drop(limit=2) == 2
        assert await drop_all(store) == 3

        assert (await found(store, SPACE), await found(store, OTHER_SPACE)) == (
            set(),
            set(ids(said)),
        )
        assert dict((await store.spaces.look(counted=True)).vectors) == {OTHER_SPACE.name: 5}
        assert all(turn.has_embedding for turn in await store.turns.recent(a_scope(), limit=9))

    async def test_nothing_is_removed_of_what_answers_or_is_being_made(self, store: Store) -> None:
        await give(store, await say(store))
        await begin(store)

        assert await drop_all(store) == 0

    async def test_the_only_vector_of_a_text_is_kept_until_it_has_another(
        self, store: Store
    ) -> None:
        await give(store, await say(store))
        await store.spaces.switch(await begin(store), now=LATER)
        late = await say(store)

        await drop_all(store)

        assert await found(store, SPACE) == {late.id}
        assert ids(await missing(store)) == [late.id]

    async def test_a_refused_text_has_no_vector_after_the_switch(self, store: Store) -> None:
        turn, memory = await say(store), await know(store)
        await refuse(store, turn)
        await refuse(store, memory)
        await store.spaces.switch(await begin(store), now=LATER)

        assert await drop_all(store) == 2

        (recent,) = await store.turns.recent(a_scope(), limit=9)
        bare = await store.memories.find(a_scope(), MemoryQuery(without_embedding=True))
        assert (recent.has_embedding, ids(bare)) == (False, [memory.id])

    async def test_vectors_of_a_target_that_was_given_up_are_removed(self, store: Store) -> None:
        turn = await say(store)
        await begin(store)
        await give(store, turn)
        await store.spaces.cancel(now=LATER)

        assert await drop_all(store) == 1

        assert await found(store, SPACE) == {turn.id}
        assert ids(await missing(store)) == [turn.id]

    async def test_a_way_there_and_back_ends_with_the_same_answers(self, store: Store) -> None:
        said = [await say(store) for _ in range(3)]
        await give(store, *said)
        await store.spaces.switch(await begin(store), now=LATER)
        await found(store, SPACE)
        await store.spaces.drop(limit=2)
        await store.spaces.begin(OLD, work(), now=LATER)

        back = [Given(project_id=PROJECT, id=turn.id, vector=a_vector(1)) for turn in said]
        await store.spaces.give(back, SPACE)

        assert await store.spaces.switch(await claim(store), now=LATER) is Switch.DONE
        await drop_all(store)
        assert await found(store, SPACE) == set(ids(said))
        assert dict((await store.spaces.look(counted=True)).vectors) == {SPACE.name: 3}

    async def test_erasing_a_user_leaves_no_vector_of_any_space(self, store: Store) -> None:
        turn, memory = await say(store), await know(store)
        await begin(store)
        await give(store, turn)
        await refuse(store, memory)

        await store.erase(a_scope())

        spaces = await store.spaces.look(counted=True)
        assert (spaces.held, spaces.target) == (0, NEW)
