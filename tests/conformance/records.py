"""What every store and index promises of records: entries of types that a project declares."""

from dataclasses import replace

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.custom_type import TagValue, equal
from memory_server.ports.memories import Add, Erase
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.conformance.search import LEGS, ids, know
from tests.factories import (
    PROJECT,
    SPACE,
    a_memory,
    a_record,
    a_scope,
    a_turn,
    a_vector,
)

VALUES: tuple[TagValue, ...] = (
    "1",
    1,
    True,
    0,
    False,
    "true",
    "",
    "One",
    "one",
    -1,
    2**63 - 1,
    0.1,
)
"""Values of which no two are equal."""


def a_selection(custom_type: str | None = "ticket", **tags: TagValue) -> Selection:
    """Return a search among Ana's records of a type that have these tags."""
    condition = equal({name.replace("_", "."): value for name, value in tags.items()})
    return Selection(
        scope=a_scope(),
        source=Source.CUSTOM,
        custom_type=custom_type,
        filter=condition,
        limit=50,
    )


class RecordsContract:
    """A subclass provides the fixture `store`, open and empty."""

    @pytest.mark.parametrize("leg", LEGS)
    async def test_each_declared_type_is_searched_alone(self, store: Store, leg: str) -> None:
        ticket, note = a_memory(body=a_record()), a_memory(body=a_record(custom_type="note"))
        await know(store, ticket, note)

        assert await ids(store, leg, a_selection("ticket")) == [ticket.id]
        assert await ids(store, leg, a_selection("note")) == [note.id]
        assert await ids(store, leg, a_selection("tick")) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_no_type_means_no_records_and_never_all(self, store: Store, leg: str) -> None:
        await know(store, a_memory(body=a_record()))

        assert await ids(store, leg, a_selection(None)) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_tags_are_equal_in_kind_and_value(self, store: Store, leg: str) -> None:
        records = [a_memory(body=a_record(tags={"t": value})) for value in VALUES]
        await know(store, *records, a_memory(body=a_record()))

        for record, value in zip(records, VALUES, strict=True):
            assert await ids(store, leg, a_selection(t=value)) == [record.id], repr(value)

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize(("stored", "asked"), [(1, 1.0), (2.0, 2), (0, -0.0)])
    async def test_a_number_is_a_number_however_it_is_written(
        self, store: Store, leg: str, stored: TagValue, asked: TagValue
    ) -> None:
        await know(store, record := a_memory(body=a_record(tags={"t": stored})))

        assert await ids(store, leg, a_selection(t=asked)) == [record.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_all_tags_are_needed_however_deep(self, store: Store, leg: str) -> None:
        both = a_memory(body=a_record(tags={"a.b": 1, "c": "x"}))
        await know(store, both, a_memory(body=a_record(tags={"a.b": 1})))

        assert await ids(store, leg, a_selection(a_b=1, c="x")) == [both.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_an_erased_record_is_not_found(self, store: Store, leg: str) -> None:
        await know(store, record := a_memory(body=a_record()))

        await store.memories.apply(PROJECT, [Erase(memory_id=record.id)])

        assert await ids(store, leg, a_selection()) == []

    async def test_a_record_without_a_vector_is_found_by_words_alone(self, store: Store) -> None:
        record = a_memory(body=a_record())
        await store.memories.apply(PROJECT, [Add(memory=record)])

        assert await ids(store, "text", a_selection()) == [record.id]
        assert await ids(store, "vector", a_selection()) == []

    async def test_erasing_a_user_counts_records_apart_from_other_memories(
        self, store: Store
    ) -> None:
        bobs = a_memory(user_id="bob", body=a_record())
        operations = [
            Add(memory=memory, vector=a_vector(1))
            for memory in (a_memory(body=a_record()), a_memory(body=a_record()), a_memory(), bobs)
        ]
        await store.memories.apply(PROJECT, operations, space=SPACE)
        await store.turns.append(a_turn())

        counts = await store.erase(a_scope())

        assert (counts["records"], counts["memories"]) == (2, 1)
        left = replace(a_selection(), scope=a_scope(user_id=None))
        assert await ids(store, "text", left) == await ids(store, "vector", left) == [bobs.id]
