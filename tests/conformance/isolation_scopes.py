"""Whatever the scope, every way of asking finds exactly what lies within it."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.scope import Scope, Visibility
from memory_server.domain.turn import NewTurn
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.store import Store
from tests.conformance.isolation import FOREIGN, LATER, select, select_records
from tests.factories import PROJECT, SESSION, SPACE, a_memory, a_record, a_scope, a_turn, a_vector

OWNERS = [
    a_scope(project_id=project, user_id=user, agent_id=agent, session_id=session)
    for project, user, agent, session in itertools.product(
        (PROJECT, FOREIGN), ("ana", "bob", "", None), ("planner", None), (SESSION, None)
    )
]
"""Every kind of owner of a memory, but for its visibility."""

ASKED = [*OWNERS, *(replace(one, userless=True) for one in OWNERS if one.user_id is None)]
"""Every kind of scope: that of each owner, where no user means everybody, and that of nobody."""


def seen(owner: Scope, asked: Scope) -> bool:
    """Whether what an owner wrote lies within the scope asked for."""
    return all(getattr(owner, field) == value for field, value in asked.conditions())


class ScopesContract:
    """A subclass provides the fixture `store`, open and empty."""

    @pytest.mark.parametrize("visibility", [*Visibility, None])
    async def test_a_scope_sees_exactly_what_lies_within_it(
        self, store: Store, visibility: Visibility | None
    ) -> None:
        written = await self._write_everywhere(store)

        for asked in ASKED:
            scope = replace(asked, visibility=visibility)
            expected = {one for one, owner in written.items() if seen(owner, scope)}
            assert await self._found(store, scope, list(written)) == [expected] * 5, scope

    @pytest.mark.parametrize("visibility", [Visibility.PRIVATE, None])
    async def test_records_are_found_by_exactly_their_scopes(
        self, store: Store, visibility: Visibility | None
    ) -> None:
        written = await self._write_everywhere(store, body=a_record())

        for asked in ASKED:
            scope = replace(asked, visibility=visibility)
            expected = {one for one, owner in written.items() if seen(owner, scope)}
            selection = select_records(scope)
            words = await store.search.text(selection, ["lisbon"])
            vectors = await store.search.vector(selection, a_vector(1), SPACE)
            assert {hit.id for hit in words} == {hit.id for hit in vectors} == expected, scope

    async def test_turns_are_found_by_exactly_their_scopes(self, store: Store) -> None:
        written: dict[str, Scope] = {}
        for owner in OWNERS:
            turn = self._turn_of(owner)
            await store.turns.append(turn, vector=a_vector(1), space=SPACE)
            written[turn.id] = replace(owner, session_id=turn.session_id)

        for asked in ASKED:
            expected = {one for one, owner in written.items() if seen(owner, asked)}
            selection = select(asked, Source.STM)
            words = await store.search.text(selection, ["lisbon"])
            vectors = await store.search.vector(selection, a_vector(1), SPACE)
            assert {hit.id for hit in words} == {hit.id for hit in vectors} == expected, asked

    async def test_recent_turns_are_those_of_exactly_their_scopes(self, store: Store) -> None:
        written: dict[str, Scope] = {}
        for owner in OWNERS:
            turn = await store.turns.append(self._turn_of(owner))
            written[turn.id] = replace(owner, session_id=turn.session_id)

        for asked in ASKED:
            expected = {one for one, owner in written.items() if seen(owner, asked)}
            recent = await store.turns.recent(asked, limit=500)
            assert {turn.id for turn in recent} == expected, asked

    @pytest.mark.parametrize(
        "changes",
        [{}, {"user_id": ""}, {"user_id": None, "userless": True}, {"user_id": None}],
        ids=["a user", "a user with an empty name", "nobody", "everybody"],
    )
    async def test_erasing_takes_exactly_what_its_owner_has(
        self, store: Store, changes: dict[str, Any]
    ) -> None:
        erased = a_scope(**changes)
        written = await self._write_everywhere(store)

        await store.erase(erased)

        everything = Scope(project_id=erased.project_id)
        left = {
            one
            for one, owner in written.items()
            if seen(owner, everything) and not seen(owner, erased)
        }
        assert await self._found(store, everything, list(written)) == [left] * 5

    def _turn_of(self, owner: Scope) -> NewTurn:
        return a_turn(
            project_id=owner.project_id,
            user_id=owner.user_id,
            agent_id=owner.agent_id,
            session_id=owner.session_id or "elsewhere",
        )

    async def _write_everywhere(self, store: Store, **changes: Any) -> dict[str, Scope]:
        written: dict[str, Scope] = {}
        adds: dict[str, list[Add]] = {PROJECT: [], FOREIGN: []}
        for owner, visibility in itertools.product(OWNERS, Visibility):
            memory = a_memory(
                project_id=owner.project_id,
                user_id=owner.user_id,
                agent_id=owner.agent_id,
                session_id=owner.session_id,
                visibility=visibility,
                **changes,
            )
            adds[owner.project_id].append(Add(memory=memory, vector=a_vector(1)))
            written[memory.id] = replace(owner, visibility=visibility)
        for project_id, of_project in adds.items():
            await store.memories.apply(project_id, of_project, space=SPACE)
        return written

    async def _found(self, store: Store, scope: Scope, ids: list[str]) -> list[set[str]]:
        """Return the ids that each way of asking finds."""
        selection = select(scope, Source.SEMANTIC)
        past = replace(selection, as_of=LATER)
        return [
            {one.id for one in await store.memories.find(scope, MemoryQuery())},
            {one.id for one in await store.memories.get_many(scope, ids)},
            {hit.id for hit in await store.search.text(selection, ["lisbon"])},
            {hit.id for hit in await store.search.vector(selection, a_vector(1), SPACE)},
            {hit.id for hit in await store.search.vector(past, a_vector(1), SPACE)},
        ]
