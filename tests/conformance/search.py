"""What every `SearchIndex` promises. Each index's test module runs the whole class."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.memory import Body, Memory
from memory_server.domain.scope import Visibility
from memory_server.domain.turn import NewTurn
from memory_server.domain.words import query_terms
from memory_server.ports.memories import Add, Erase, Replace
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import (
    PROJECT,
    SESSION,
    SPACE,
    a_block,
    a_fact,
    a_memory,
    a_procedure,
    a_record,
    a_scope,
    a_snapshot,
    a_term,
    a_turn,
    a_vector,
    an_episode,
)

LATER = START + timedelta(days=1)
LEGS = ("text", "vector")


def a_selection(source: Source = Source.SEMANTIC, **changes: Any) -> Selection:
    """Return a search among Ana's."""
    values: dict[str, Any] = {"scope": a_scope(), "source": source, "limit": 10}
    return Selection(**values | changes)


async def ids(store: Store, leg: str, selection: Selection, query: str = "Lisbon") -> list[str]:
    """Return what a leg finds; every vector of these tests points into one half-space."""
    if leg == "text":
        hits = await store.search.text(selection, query_terms(query))
    else:
        hits = await store.search.vector(selection, a_vector(1), SPACE)
    return [hit.id for hit in hits]


async def say(store: Store, *turns: NewTurn) -> None:
    """Record turns with vectors."""
    for turn in turns:
        await store.turns.append(turn, vector=a_vector(1), space=SPACE)


async def know(store: Store, *memories: Memory) -> None:
    """Store memories with vectors."""
    operations = [Add(memory=memory, vector=a_vector(1)) for memory in memories]
    await store.memories.apply(memories[0].project_id, operations, space=SPACE)


async def change(store: Store, memory: Memory, **given_: Any) -> None:
    """Replace a memory."""
    await store.memories.apply(PROJECT, [Replace(memory=memory, **given_)], space=SPACE)


def moved(memory: Memory, *, at: datetime = LATER) -> Memory:
    """Return the memory after Ana has moved."""
    return replace(
        memory,
        body=a_fact(text="Ana lives in Porto"),
        version=memory.version + 1,
        revision=memory.revision + 1,
        valid_from=at,
    )


class SearchContract:
    """A subclass provides the fixture `store`, open and empty."""

    @pytest.mark.parametrize("leg", LEGS)
    async def test_nothing_is_found_in_an_empty_store(self, store: Store, leg: str) -> None:
        assert await ids(store, leg, a_selection()) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_what_was_written_is_found_at_once(self, store: Store, leg: str) -> None:
        for number in range(5):
            await know(store, a_memory(id=f"m{number}"))

            assert len(await ids(store, leg, a_selection())) == number + 1

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize(
        ("source", "body"),
        [
            (Source.SEMANTIC, a_fact()),
            (Source.EPISODIC, an_episode()),
            (Source.TAXONOMIC, a_term(definition="Lisbon")),
            (Source.PROCEDURAL, a_procedure(content="Lisbon")),
            (Source.CUSTOM, a_record()),
            (Source.BLOCK, a_block()),
        ],
    )
    async def test_each_source_is_searched_alone(
        self, store: Store, leg: str, source: Source, body: Body
    ) -> None:
        await know(store, memory := a_memory(body=body))
        await say(store, turn := a_turn())

        types = {Source.CUSTOM: "ticket"}
        found = {
            one: await ids(store, leg, a_selection(one, custom_type=types.get(one)))
            for one in Source
        }

        assert {one for one, hits in found.items() if hits} == {source, Source.STM}
        assert found[source] == [memory.id]
        assert found[Source.STM] == [turn.id]

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize("source", [Source.STM, Source.SEMANTIC])
    @pytest.mark.parametrize(
        "changes",
        [
            {"project_id": "bank"},
            {"user_id": "bob"},
            {"agent_id": "writer"},
            {"session_id": "tuesday"},
            {"visibility": Visibility.ORG},
        ],
    )
    async def test_no_leg_finds_anything_outside_the_scope(
        self, store: Store, leg: str, source: Source, changes: dict[str, Any]
    ) -> None:
        await know(store, a_memory(agent_id="planner", session_id=SESSION))
        await say(store, a_turn(agent_id="planner"))
        full = a_scope(agent_id="planner", session_id=SESSION, visibility=Visibility.PRIVATE)

        assert len(await ids(store, leg, a_selection(source, scope=full))) == 1
        foreign = a_selection(source, scope=replace(full, **changes))
        assert await ids(store, leg, foreign) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_without_a_user_every_user_of_the_project_is_searched(
        self, store: Store, leg: str
    ) -> None:
        for number, user in enumerate(("ana", "bob", None)):
            await know(store, a_memory(id=f"m{number}", user_id=user))
        await know(store, a_memory(project_id="bank"))

        found = await ids(store, leg, a_selection(scope=a_scope(user_id=None)))

        assert found == ["m0", "m1", "m2"]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_filter_limits_every_leg(self, store: Store, leg: str) -> None:
        await know(store, a_memory(metadata={"tier": "gold"}, id="gold"), a_memory())

        gold = Comparison("metadata.tier", Operator.EQ, "gold")

        assert await ids(store, leg, a_selection(filter=gold)) == ["gold"]

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize(
        ("source", "path", "value"),
        [
            (Source.TAXONOMIC, "domain", "shipping"),
            (Source.PROCEDURAL, "tags", "money"),
            (Source.TAXONOMIC, "agent_id", "planner"),
            (Source.STM, "agent_id", "planner"),
            (Source.STM, "session_id", SESSION),
            (Source.STM, "role", "user"),
        ],
    )
    async def test_the_servers_own_fields_can_be_filtered(
        self, store: Store, leg: str, source: Source, path: str, value: str
    ) -> None:
        await say(store, a_turn(agent_id="planner"))
        await know(
            store,
            a_memory(agent_id="planner", body=a_term(definition="Lisbon")),
            a_memory(body=a_procedure(content="Lisbon", tags=("money", "orders"))),
        )

        for wanted, count in ((value, 1), ("other", 0)):
            condition = Comparison(path, Operator.EQ, wanted)
            selection = a_selection(source, filter=condition)
            assert len(await ids(store, leg, selection)) == count

    @pytest.mark.parametrize("leg", LEGS)
    async def test_only_as_many_are_found_as_asked_for(self, store: Store, leg: str) -> None:
        await know(store, *(a_memory(id=f"m{number}") for number in range(5)))

        assert len(await ids(store, leg, a_selection(limit=3))) == 3
        assert await ids(store, leg, a_selection(limit=0)) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_ties_come_in_the_order_of_the_id(self, store: Store, leg: str) -> None:
        await know(store, *(a_memory(id=f"m{number}") for number in (3, 1, 4, 0, 2)))

        assert await ids(store, leg, a_selection(limit=3)) == ["m0", "m1", "m2"]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_new_version_takes_the_place_of_the_old_one(
        self, store: Store, leg: str
    ) -> None:
        await know(store, memory := a_memory())
        await change(store, moved(memory), former_id="former", vector=a_vector(1))

        assert await ids(store, leg, a_selection(), "Porto Lisbon") == [memory.id]

    async def test_words_of_a_former_version_are_not_found(self, store: Store) -> None:
        await know(store, memory := a_memory())
        await change(store, moved(memory), former_id="former")

        assert await ids(store, "text", a_selection(), "Lisbon") == []
        assert await ids(store, "text", a_selection(), "Porto") == [memory.id]

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize(
        "changes", [{"deleted": True}, {"is_latest": False}], ids=["deleted", "superseded"]
    )
    async def test_what_is_no_longer_live_is_not_found(
        self, store: Store, leg: str, changes: dict[str, Any]
    ) -> None:
        await know(store, memory := a_memory())

        await change(store, replace(memory, revision=2, **changes))

        assert await ids(store, leg, a_selection()) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_what_is_live_again_is_found_again(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())
        await change(store, replace(memory, deleted=True, revision=2))

        await change(store, replace(memory, revision=3))

        assert await ids(store, leg, a_selection()) == [memory.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_an_erased_memory_is_found_at_no_time(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())
        await change(store, moved(memory), former_id="former", vector=a_vector(1))

        await store.memories.apply(PROJECT, [Erase(memory_id=memory.id)])

        for as_of in (None, START, LATER):
            selection = a_selection(as_of=as_of)
            assert await ids(store, leg, selection, "Lisbon Porto") == []

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize(
        ("as_of", "expected"),
        [
            (START - timedelta(microseconds=1), []),
            (START, ["former"]),
            (LATER - timedelta(microseconds=1), ["former"]),
            (LATER, ["now"]),
            (LATER + timedelta(days=9), ["now"]),
        ],
    )
    async def test_a_search_of_the_past_finds_what_held_then(
        self, store: Store, leg: str, as_of: datetime, expected: list[str]
    ) -> None:
        await know(store, memory := a_memory(id="now"))
        await change(store, moved(memory), former_id="former", vector=a_vector(1))

        found = await ids(store, leg, a_selection(as_of=as_of), "Lisbon Porto")

        assert found == expected

    @pytest.mark.parametrize("leg", LEGS)
    async def test_the_past_of_a_deleted_memory_is_not_found(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())
        second = moved(memory)
        await change(store, second, former_id="former", vector=a_vector(1))

        await change(store, replace(second, deleted=True, revision=3))

        for as_of in (START, LATER):
            assert await ids(store, leg, a_selection(as_of=as_of), "Lisbon Porto") == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_turns_have_no_past(self, store: Store, leg: str) -> None:
        await say(store, turn := a_turn())

        selection = a_selection(Source.STM, as_of=START - timedelta(days=1))

        assert await ids(store, leg, selection) == [turn.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_turns_that_are_gone_are_not_found(self, store: Store, leg: str) -> None:
        await say(store, a_turn(), left := a_turn())
        await store.snapshots.promote(a_snapshot(1, 1), [])

        await store.snapshots.delete_promoted_turns(limit=9)

        assert await ids(store, leg, a_selection(Source.STM)) == [left.id]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_memory_follows_its_visibility(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())
        await change(store, replace(memory, visibility=Visibility.ORG, revision=2))

        for visibility, expected in ((Visibility.ORG, [memory.id]), (Visibility.PRIVATE, [])):
            selection = a_selection(scope=a_scope(visibility=visibility))
            assert await ids(store, leg, selection) == expected

    @pytest.mark.parametrize("leg", LEGS)
    async def test_a_memory_follows_its_owner(self, store: Store, leg: str) -> None:
        await know(store, memory := a_memory())
        await change(store, replace(memory, user_id="bob", revision=2))

        for user, expected in (("bob", [memory.id]), ("ana", [])):
            assert await ids(store, leg, a_selection(scope=a_scope(user_id=user))) == expected

    async def test_the_index_describes_itself(self, store: Store) -> None:
        await know(store, a_memory())
        await ids(store, "vector", a_selection())

        described = await store.search.describe()

        assert {"kind", "vector_memory_bytes", "vector_memory_limit_bytes"} <= described.keys()
        assert described["vector_memory_bytes"] <= described["vector_memory_limit_bytes"]
