"""What every `Memories` promises of changes. Each store's test module runs the whole class."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.job import JobKind, JobState
from memory_server.domain.memory import Memory
from memory_server.errors import (
    DuplicateMemory,
    LeaseLost,
    MemoryNotFound,
    VersionConflict,
    WrongDimension,
)
from memory_server.ports.memories import Add, Erase, MemoryQuery, Replace
from memory_server.ports.store import Store
from tests.clock import START, ManualClock
from tests.conformance.memories import LATER, add, found
from tests.factories import (
    PROJECT,
    SPACE,
    a_fact,
    a_job,
    a_memory,
    a_scope,
    a_term,
    a_vector,
    an_episode,
)


def changed(memory: Memory, **changes: Any) -> Memory:
    """Return a memory in a new version."""
    values: dict[str, Any] = {
        "body": a_fact(text="Ana lives in Porto"),
        "version": memory.version + 1,
        "revision": memory.revision + 1,
        "updated_at": LATER,
        "valid_from": LATER,
    }
    return replace(memory, **values | changes)


class MemoryChangesContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_memory_keeps_its_id_and_its_former_version_gets_another(
        self, store: Store
    ) -> None:
        await add(store, memory := a_memory())
        new = changed(memory)

        await store.memories.apply(PROJECT, [Replace(memory=new, former_id="former")])

        assert await store.memories.get(a_scope(), memory.id) == new
        former = replace(
            memory, id="former", is_latest=False, superseded_by=memory.id, valid_to=LATER
        )
        assert await store.memories.get(a_scope(), "former") == former
        assert await found(store) == [memory.id]

    async def test_the_history_is_every_version_the_oldest_first(self, store: Store) -> None:
        await add(store, memory := a_memory(), a_memory())
        second = changed(memory)
        third = changed(second, valid_from=LATER + timedelta(days=1))
        await store.memories.apply(PROJECT, [Replace(memory=second, former_id="v1")])
        await store.memories.apply(PROJECT, [Replace(memory=third, former_id="v2")])

        history = await store.memories.history(a_scope(), memory.id)

        assert [one.id for one in history] == ["v1", "v2", memory.id]
        assert [one.version for one in history] == [1, 2, 3]

    async def test_histories_of_many_are_those_of_each(self, store: Store) -> None:
        first, other, still = a_memory(), a_memory(body=an_episode()), a_memory()
        await add(store, first, other, still)
        await store.memories.apply(PROJECT, [Replace(memory=changed(first), former_id="v1")])
        await store.memories.apply(
            PROJECT, [Replace(memory=changed(other, body=other.body), former_id="e1")]
        )
        asked = [first.id, other.id, still.id]

        found = await store.memories.histories(a_scope(), [*asked, "none", "v1"])

        assert found == {one: await store.memories.history(a_scope(), one) for one in asked}
        assert [len(found[one]) for one in asked] == [2, 2, 1]
        assert await store.memories.histories(a_scope(user_id="bob"), asked) == {}
        assert await store.memories.histories(a_scope(), []) == {}

    async def test_without_a_former_id_no_version_is_kept(self, store: Store) -> None:
        await add(store, memory := a_memory())
        counted = replace(memory, reinforcement_count=1, revision=2)

        await store.memories.apply(PROJECT, [Replace(memory=counted)])

        assert await store.memories.history(a_scope(), memory.id) == [counted]

    @pytest.mark.parametrize("revision", [1, 3])
    async def test_a_memory_changed_meanwhile_is_not_overwritten(
        self, store: Store, revision: int
    ) -> None:
        await add(store, memory := a_memory())

        with pytest.raises(VersionConflict):
            await store.memories.apply(
                PROJECT, [Replace(memory=changed(memory, revision=revision))]
            )

        assert await store.memories.get(a_scope(), memory.id) == memory

    async def test_a_memory_that_is_gone_cannot_be_replaced(self, store: Store) -> None:
        with pytest.raises(VersionConflict):
            await store.memories.apply(PROJECT, [Replace(memory=changed(a_memory()))])

    async def test_of_concurrent_changes_one_wins(self, store: Store) -> None:
        await add(store, memory := a_memory())
        changes = [
            store.memories.apply(PROJECT, [Replace(memory=changed(memory), former_id=f"f{n}")])
            for n in range(8)
        ]

        results = await asyncio.gather(*changes, return_exceptions=True)

        assert [type(one) for one in results if one is not None] == [VersionConflict] * 7
        assert len(await store.memories.history(a_scope(), memory.id)) == 2

    async def test_an_identity_lives_once(self, store: Store) -> None:
        await add(store, a_memory(identity_key="i"))

        with pytest.raises(DuplicateMemory):
            await add(store, a_memory(identity_key="i"))

    async def test_of_concurrent_memories_of_one_identity_one_lives(self, store: Store) -> None:
        results = await asyncio.gather(
            *(add(store, a_memory(identity_key="i")) for _ in range(20)), return_exceptions=True
        )

        assert [type(one) for one in results if one is not None] == [DuplicateMemory] * 19
        assert len(await found(store)) == 1

    @pytest.mark.parametrize(
        "changes",
        [
            {"user_id": "bob"},
            {"user_id": None},
            {"body": an_episode()},
            {"identity_key": "j"},
            {"deleted": True},
            {"is_latest": False},
        ],
    )
    async def test_an_identity_is_that_of_one_owner_type_and_live_memory(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        await add(store, a_memory(identity_key="i"))

        await add(store, a_memory(**{"identity_key": "i"} | changes))

    async def test_memories_without_identity_stand_side_by_side(self, store: Store) -> None:
        await add(store, a_memory(), a_memory())

        assert len(await found(store)) == 2

    async def test_memories_of_nobody_have_identities_too(self, store: Store) -> None:
        await add(store, a_memory(user_id=None, identity_key="i"))

        with pytest.raises(DuplicateMemory):
            await add(store, a_memory(user_id=None, identity_key="i"))

    async def test_an_identity_is_free_again_when_its_memory_is_deleted(self, store: Store) -> None:
        await add(store, memory := a_memory(identity_key="i"))
        deleted = replace(memory, deleted=True, revision=2)

        await store.memories.apply(
            PROJECT, [Replace(memory=deleted), Add(memory=a_memory(identity_key="i"))]
        )

        assert len(await found(store)) == 1

    async def test_a_replaced_memory_cannot_take_a_living_identity(self, store: Store) -> None:
        await add(store, a_memory(identity_key="i"), other := a_memory(identity_key="j"))

        with pytest.raises(DuplicateMemory):
            await store.memories.apply(
                PROJECT, [Replace(memory=replace(other, identity_key="i", revision=2))]
            )

    async def test_an_erased_memory_is_gone_with_all_versions(self, store: Store) -> None:
        await add(store, memory := a_memory())
        await store.memories.apply(PROJECT, [Replace(memory=changed(memory), former_id="former")])

        await store.memories.apply(PROJECT, [Erase(memory_id=memory.id)])

        assert await store.memories.get_many(a_scope(), [memory.id, "former"]) == []

    async def test_a_memory_of_another_project_cannot_be_erased(self, store: Store) -> None:
        await add(store, memory := a_memory())

        with pytest.raises(MemoryNotFound):
            await store.memories.apply("bank", [Erase(memory_id=memory.id)])

        assert await found(store) == [memory.id]

    async def test_operations_are_carried_out_all_or_none(self, store: Store) -> None:
        await add(store, memory := a_memory(identity_key="i"))

        with pytest.raises(DuplicateMemory):
            await store.memories.apply(
                PROJECT,
                [
                    Add(memory=a_memory(body=a_term())),
                    Replace(memory=changed(memory), former_id="former"),
                    Add(memory=a_memory(identity_key="i")),
                ],
            )

        assert await store.memories.find(
            a_scope(), MemoryQuery(include_deleted=True, include_superseded=True)
        ) == [memory]

    async def test_one_failing_call_leaves_others_at_the_same_time_alone(
        self, store: Store
    ) -> None:
        calls = [add(store, a_memory(id=f"m{number}")) for number in range(9)]
        failing = store.memories.apply(PROJECT, [Erase(memory_id="unknown")])

        results = await asyncio.gather(*calls[:4], failing, *calls[4:], return_exceptions=True)

        assert [type(one) for one in results if one is not None] == [MemoryNotFound]
        assert len(await found(store)) == 9

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({}, True),
            ({"vector": a_vector(0, 1)}, True),
            ({"drop_vector": True}, False),
        ],
        ids=["stays", "replaced", "dropped"],
    )
    async def test_a_memory_says_whether_it_has_a_vector(
        self, store: Store, change: dict[str, Any], *, expected: bool
    ) -> None:
        memory = a_memory()
        add_it = Add(memory=memory, vector=a_vector(1))
        await store.memories.apply(PROJECT, [add_it], space=SPACE)
        assert (await store.memories.get(a_scope(), memory.id)).has_embedding

        replaced = Replace(memory=changed(memory), former_id="former", **change)
        await store.memories.apply(PROJECT, [replaced], space=SPACE)

        assert (await store.memories.get(a_scope(), memory.id)).has_embedding is expected
        assert (await store.memories.get(a_scope(), "former")).has_embedding

    async def test_a_vector_of_another_dimension_writes_nothing(self, store: Store) -> None:
        operations = [Add(memory=a_memory()), Add(memory=a_memory(), vector=a_vector(1)[:3])]

        with pytest.raises(WrongDimension):
            await store.memories.apply(PROJECT, operations, space=SPACE)

        assert await found(store) == []

    async def test_a_job_is_settled_with_the_memories_it_brought(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.jobs.enqueue([a_job()])
        job = await store.jobs.claim(
            worker="w", kinds=[JobKind.EXTRACT], now=START, lease_until=LATER
        )
        assert job is not None
        clock.advance(30)

        settling = replace(job, result={"added": 1})
        await store.memories.apply(PROJECT, [Add(memory=a_memory())], settling=settling)

        (done,) = await store.jobs.list(PROJECT)
        assert (done.state, done.result) == (JobState.DONE, {"added": 1})
        assert done.finished_at == clock.now()

    async def test_a_worker_that_lost_its_lease_writes_nothing(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        kinds = [JobKind.EXTRACT]
        stale = await store.jobs.claim(worker="w1", kinds=kinds, now=START, lease_until=LATER)
        await store.jobs.claim(worker="w2", kinds=kinds, now=LATER, lease_until=LATER)

        with pytest.raises(LeaseLost):
            await store.memories.apply(PROJECT, [Add(memory=a_memory())], settling=stale)

        assert await found(store) == []

    async def test_a_job_is_not_settled_when_the_memories_fail(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        kinds = [JobKind.EXTRACT]
        job = await store.jobs.claim(worker="w", kinds=kinds, now=START, lease_until=LATER)

        with pytest.raises(MemoryNotFound):
            await store.memories.apply(PROJECT, [Erase(memory_id="unknown")], settling=job)

        assert await store.jobs.list(PROJECT) == [job]
