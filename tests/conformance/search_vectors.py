"""What every `SearchIndex` promises of vectors. Each index's test module runs the whole class."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.errors import WrongDimension
from memory_server.ports.memories import Add, Replace
from memory_server.ports.search import Hit
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.search import a_selection, change, ids, know, moved
from tests.factories import (
    OTHER_SPACE,
    PROJECT,
    SPACE,
    a_memory,
    a_turn,
    a_vector,
)


def nearest(vectors: dict[str, Any], query: Any, limit: int) -> list[str]:
    """Find the nearest ids the slow way."""
    cosines = {one: round(float(vector @ query), 6) for one, vector in vectors.items()}
    return sorted(cosines, key=lambda one: (-cosines[one], one))[:limit]


class VectorsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_cosines_are_given_from_minus_one_to_one(self, store: Store) -> None:
        angles = {"same": (1.0,), "across": (0.0, 1.0), "opposite": (-1.0,)}
        for one, direction in angles.items():
            memory = a_memory(id=one)
            add = Add(memory=memory, vector=a_vector(*direction))
            await store.memories.apply(PROJECT, [add], space=SPACE)

        hits = await store.search.vector(a_selection(), a_vector(1), SPACE)

        assert hits == [Hit("same", 1.0), Hit("across", 0.0), Hit("opposite", -1.0)]

    async def test_what_has_no_vector_is_found_by_words_only(self, store: Store) -> None:
        await store.memories.apply(PROJECT, [Add(memory=a_memory(id="m"))])

        assert await ids(store, "vector", a_selection()) == []
        assert await ids(store, "text", a_selection()) == ["m"]

    async def test_a_vector_given_later_is_found(self, store: Store) -> None:
        turn = await store.turns.append(a_turn())
        await store.turns.set_vectors(PROJECT, {turn.id: a_vector(1)}, SPACE)

        assert await ids(store, "vector", a_selection(Source.STM)) == [turn.id]

    async def test_a_vector_that_was_dropped_is_not_found(self, store: Store) -> None:
        await know(store, memory := a_memory())
        await change(store, moved(memory), former_id="former", drop_vector=True)

        assert await ids(store, "vector", a_selection()) == []
        assert await ids(store, "vector", a_selection(as_of=START)) == ["former"]

    async def test_a_vector_stays_with_a_memory_that_is_only_counted_up(self, store: Store) -> None:
        await know(store, memory := a_memory())
        await change(store, replace(memory, reinforcement_count=1, revision=2))

        assert await ids(store, "vector", a_selection()) == [memory.id]

    async def test_a_replaced_vector_is_the_one_that_counts(self, store: Store) -> None:
        await know(store, memory := a_memory())
        await change(store, replace(memory, revision=2), vector=a_vector(0, 1))

        (hit,) = await store.search.vector(a_selection(), a_vector(1), SPACE)

        assert hit.score == 0

    async def test_vectors_of_two_spaces_are_never_compared(self, store: Store) -> None:
        await know(store, memory := a_memory())
        other = np.array([1, 0, 0], np.float32)

        assert await store.search.vector(a_selection(), other, OTHER_SPACE) == []

        again = Replace(memory=replace(memory, revision=2), vector=other)
        await store.memories.apply(PROJECT, [again], space=OTHER_SPACE)
        for vector, space in ((other, OTHER_SPACE), (a_vector(1), SPACE)):
            (hit,) = await store.search.vector(a_selection(), vector, space)
            assert hit == Hit(memory.id, 1.0)

    async def test_new_content_leaves_no_vector_of_another_space_behind(self, store: Store) -> None:
        await know(store, memory := a_memory())
        new = Replace(
            memory=moved(memory), former_id="former", vector=np.array([1, 0, 0], np.float32)
        )
        await store.memories.apply(PROJECT, [new], space=OTHER_SPACE)

        assert await ids(store, "vector", a_selection()) == []

    async def test_a_query_of_another_dimension_is_refused(self, store: Store) -> None:
        with pytest.raises(WrongDimension):
            await store.search.vector(a_selection(), a_vector(1)[:2], SPACE)

    @pytest.mark.parametrize("condition", [None, Comparison("metadata.odd", Operator.EQ, 1)])
    async def test_the_nearest_of_many_are_exactly_the_nearest(
        self, store: Store, condition: Comparison | None
    ) -> None:
        random = np.random.default_rng(7)
        vectors = {f"t{n:03}": a_vector(*random.normal(size=4)) for n in range(700)}
        for number, (one, vector) in enumerate(vectors.items()):
            turn = a_turn(id=one, metadata={"odd": number % 2})
            await store.turns.append(turn, vector=vector, space=SPACE)
        if condition is not None:
            vectors = {one: v for one, v in vectors.items() if int(one[1:]) % 2}

        query = a_vector(1, 2, 3, 4)
        selection = a_selection(Source.STM, limit=20, filter=condition)
        hits = await store.search.vector(selection, query, SPACE)

        assert [hit.id for hit in hits] == nearest(vectors, query, 20)
