"""The versions of a memory belong together. Each store's test module runs the whole class."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.memory import Memory
from memory_server.domain.scope import Visibility
from memory_server.errors import MemoryNotFound, VersionConflict
from memory_server.ports.memories import Add, Erase, MemoryQuery, Replace
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.memory_changes import changed
from tests.conformance.search import LEGS, a_selection, ids
from tests.factories import PROJECT, SPACE, a_fact, a_memory, a_scope, a_vector, an_episode

EARLIER = START - timedelta(days=9)
ORG = a_scope(visibility=Visibility.ORG)


def a_past(memory: Memory, **changes: Any) -> Memory:
    """Return what held before a memory did, learned after it."""
    values: dict[str, Any] = {
        "id": "past",
        "body": a_fact(text="Ana lives in Faro"),
        "valid_from": EARLIER,
        "valid_to": START,
        "is_latest": False,
        "superseded_by": memory.id,
    }
    return a_memory(**values | changes)


async def apply(store: Store, *operations: Add | Replace | Erase) -> None:
    """Carry out operations, whose vectors are all of one space."""
    await store.memories.apply(PROJECT, operations, space=SPACE)


async def know(store: Store, memory: Memory, past: Memory | None = None) -> None:
    """Store a memory, then what held before it."""
    add_past = Add(memory=past or a_past(memory), vector=a_vector(1), history_of=memory.id)
    await apply(store, Add(memory=memory, vector=a_vector(1)), add_past)


async def found_then(store: Store, leg: str, **scope: Any) -> Sequence[str]:
    """Return what a search as of the past finds."""
    selection = a_selection(scope=a_scope(**scope), as_of=EARLIER)
    return await ids(store, leg, selection, "Faro Lisbon")


class VersionsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_what_held_before_is_part_of_the_history(self, store: Store) -> None:
        memory = a_memory()
        await know(store, memory)
        await apply(store, Replace(memory=changed(memory), former_id="former"))

        for known in (memory.id, "past", "former"):
            history = await store.memories.history(a_scope(), known)
            assert [one.id for one in history] == ["past", "former", memory.id]

    async def test_it_comes_back_as_it_was_added(self, store: Store) -> None:
        memory = a_memory()
        past = a_past(memory, has_embedding=True)
        await know(store, memory, past)

        assert await store.memories.get(a_scope(), "past") == past

    async def test_a_version_of_a_version_is_one_of_their_memory(self, store: Store) -> None:
        memory = a_memory()
        await know(store, memory)
        before = a_past(memory, id="long ago", valid_from=EARLIER - timedelta(days=1))

        await apply(store, Add(memory=before, history_of="past"))

        history = await store.memories.history(a_scope(), memory.id)
        assert [one.id for one in history] == ["long ago", "past", memory.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_it_is_found_as_of_then_only(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())

        assert await found_then(store, leg) == ["past"]
        assert await ids(store, leg, a_selection(), "Faro Lisbon") == [memory.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_it_is_hidden_and_shown_with_its_memory(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())

        await apply(store, Replace(memory=replace(memory, deleted=True, revision=2)))
        assert await found_then(store, leg) == []

        await apply(store, Replace(memory=replace(memory, revision=3)))
        assert await found_then(store, leg) == ["past"]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_it_is_hidden_from_the_start_when_its_memory_is_deleted(
        self, store: Store, leg: str
    ) -> None:
        await know(store, a_memory(deleted=True))

        assert await found_then(store, leg) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_it_is_erased_with_its_memory(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())

        await apply(store, Erase(memory_id=memory.id))

        everything = MemoryQuery(include_deleted=True, include_superseded=True)
        assert await store.memories.find(a_scope(), everything) == []
        assert await found_then(store, leg) == []

    async def test_it_cannot_be_erased_alone(self, store: Store) -> None:
        await know(store, a_memory())

        with pytest.raises(MemoryNotFound):
            await apply(store, Erase(memory_id="past"))

    async def test_a_memory_that_is_gone_has_no_history_to_add_to(self, store: Store) -> None:
        memory = a_memory()

        with pytest.raises(VersionConflict):
            await apply(store, Add(memory=a_past(memory), history_of=memory.id))

        everything = MemoryQuery(include_superseded=True)
        assert await store.memories.find(a_scope(), everything) == []

    @pytest.mark.parametrize(
        "changes",
        [{"is_latest": True}, {"user_id": "bob"}, {"user_id": None}, {"body": an_episode()}],
        ids=["the latest", "another user's", "nobody's", "another type"],
    )
    async def test_what_cannot_be_a_former_version_is_refused(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        memory = a_memory()

        with pytest.raises(ValueError, match="past"):
            await know(store, memory, a_past(memory, **changes))

        assert await store.memories.get_many(a_scope(), [memory.id]) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_memory_made_private_takes_its_former_versions_along(
        self, store: Store, leg: str
    ) -> None:
        memory = a_memory(visibility=Visibility.ORG)
        await know(store, memory, a_past(memory, visibility=Visibility.ORG))
        assert await found_then(store, leg, visibility=Visibility.ORG) == ["past"]

        private = replace(memory, visibility=Visibility.PRIVATE, revision=2)
        await apply(store, Replace(memory=private))

        assert await found_then(store, leg, visibility=Visibility.ORG) == []
        assert await found_then(store, leg, visibility=Visibility.PRIVATE) == ["past"]
        history = await store.memories.history(a_scope(), memory.id)
        assert {one.visibility for one in history} == {Visibility.PRIVATE}

    async def test_a_new_version_made_private_takes_the_one_it_replaces_along(
        self, store: Store
    ) -> None:
        memory = a_memory(visibility=Visibility.ORG)
        await apply(store, Add(memory=memory))

        private = changed(memory, visibility=Visibility.PRIVATE)
        await apply(store, Replace(memory=private, former_id="former"))

        assert await store.memories.get_many(ORG, ["former", memory.id]) == []
        with pytest.raises(MemoryNotFound):
            await store.memories.history(ORG, "former")

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_deleted_memory_made_private_stays_hidden(self, store: Store, leg: str) -> None:
        memory = a_memory(visibility=Visibility.ORG)
        await know(store, memory, a_past(memory, visibility=Visibility.ORG))
        deleted = replace(memory, deleted=True, revision=2)
        await apply(store, Replace(memory=deleted))

        await apply(
            store, Replace(memory=replace(deleted, visibility=Visibility.PRIVATE, revision=3))
        )

        assert await found_then(store, leg) == []

    async def test_other_memories_keep_their_visibility(self, store: Store) -> None:
        memory, other = a_memory(visibility=Visibility.ORG), a_memory(visibility=Visibility.ORG)
        await apply(store, Add(memory=memory), Add(memory=other))

        await apply(
            store, Replace(memory=replace(memory, visibility=Visibility.PRIVATE, revision=2))
        )

        assert await store.memories.find(ORG, MemoryQuery()) == [other]
