"""Atlas lags behind what is written; a search never does behind what this server wrote."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.scope import Visibility
from memory_server.ports.memories import Erase
from memory_server.ports.search import Hit
from memory_server.storage.mongo import recent
from memory_server.storage.mongo.atlas import COLLECTIONS
from memory_server.storage.mongo.documents import identity, packed, space_key
from tests.clock import ManualClock
from tests.conformance.search import LEGS, a_selection, change, ids, know, moved, say
from tests.factories import PROJECT, SPACE, a_fact, a_memory, a_scope, a_turn, a_vector
from tests.integration.search.atlas_stores import AtlasStore, OnAtlas

OTHER = a_fact(label="weather", text="it rains in Porto")


async def age(store: AtlasStore, clock: ManualClock, by: timedelta) -> None:
    """Let time pass, and the indexes be looked after."""
    clock.advance(by=by)
    await store.index.tend()


async def elsewhere(
    store: AtlasStore, collection: str, document_id: str, change: dict[str, Any]
) -> None:
    """Change a document as another server does: nothing is told of it here."""
    which = {"_id": identity(PROJECT, document_id)}
    await store.atlas[collection].update_one(which, {"$set": change})


def kept(store: AtlasStore) -> int:
    """Return how many documents are kept at hand."""
    return sum(len(store.index._recent.ids(source, PROJECT)) for source in Source)


class TestWhatWasWrittenLately(OnAtlas):
    @pytest.fixture(autouse=True)
    async def lagging(self, store: AtlasStore) -> None:
        """Let Atlas know of one memory and of nothing that comes after it."""
        await know(store, a_memory(id="old"))
        await store.atlas.freeze(*COLLECTIONS.values())

    @pytest.mark.parametrize("leg", LEGS)
    async def test_it_is_found_at_once(self, store: AtlasStore, leg: str) -> None:
        await know(store, a_memory(id="new"))

        assert await ids(store, leg, a_selection()) == ["new", "old"]

    @pytest.mark.parametrize("leg", LEGS)
    async def test_what_was_erased_is_not_found(self, store: AtlasStore, leg: str) -> None:
        await store.memories.apply(PROJECT, [Erase(memory_id="old")])

        assert await ids(store, leg, a_selection()) == []

    @pytest.mark.parametrize("leg", LEGS)
    async def test_what_was_hidden_from_others_is_hidden(self, store: AtlasStore, leg: str) -> None:
        (memory,) = await store.memories.get_many(a_scope(), ["old"])
        await change(store, replace(memory, visibility=Visibility.ORG, revision=2))

        private = a_selection(scope=a_scope(visibility=Visibility.PRIVATE))

        assert await ids(store, leg, private) == []

    async def test_new_words_count_and_old_ones_do_not(self, store: AtlasStore) -> None:
        (memory,) = await store.memories.get_many(a_scope(), ["old"])
        await change(store, moved(memory), former_id="former", vector=a_vector(0, 1))

        assert await ids(store, "text", a_selection(), "Lisbon") == []
        assert await ids(store, "text", a_selection(), "Porto") == ["old"]
        hits = await store.search.vector(a_selection(), a_vector(1), SPACE)
        assert hits == [Hit("old", 0.0)]

    @pytest.mark.parametrize("leg", LEGS)
    @pytest.mark.parametrize("change", [{"is_live": False, "hidden": True}, {"user_id": "bob"}])
    async def test_what_another_server_hid_is_not_found(
        self, store: AtlasStore, leg: str, change: dict[str, Any]
    ) -> None:
        await know(store, a_memory(id="new"))

        for one in ("old", "new"):
            await elsewhere(store, "memory_semantic", one, change)

        assert await ids(store, leg, a_selection()) == []

    async def test_a_vector_that_another_server_made_is_found_soon(self, store: AtlasStore) -> None:
        await store.turns.append(turn := a_turn())
        assert await ids(store, "vector", a_selection(Source.STM)) == []
        vectors = {space_key(SPACE): packed(a_vector(1))}
        change = {"has_embedding": True, "vectors": vectors}
        await elsewhere(store, "memory_turns", turn.id, change)

        await store.index.tend()

        assert await ids(store, "vector", a_selection(Source.STM)) == [turn.id]

    async def test_both_are_on_one_scale(self, store: AtlasStore, clock: ManualClock) -> None:
        await age(store, clock, recent.LINGER)
        assert kept(store) == 0
        await know(store, a_memory(id="new", body=OTHER))

        hits = await store.search.text(a_selection(), ["lisbon", "ana", "lives", "rains"])

        assert [hit.id for hit in hits] == ["old", "new"]
        assert 0 < hits[1].score < hits[0].score

    @pytest.mark.parametrize("leg", LEGS)
    async def test_neighbours_of_both_are_heard(self, store: AtlasStore, leg: str) -> None:
        await say(store, question := a_turn("Lisbon?"), answer := a_turn("Lisbon, yes"))

        found = await ids(store, leg, a_selection(Source.STM))

        assert set(found) == {question.id, answer.id}


class TestLettingGo(OnAtlas):
    async def test_what_atlas_knows_is_let_go_after_a_while(
        self, store: AtlasStore, clock: ManualClock
    ) -> None:
        await know(store, a_memory(id="m"))
        await say(store, a_turn())
        await age(store, clock, recent.LINGER - timedelta(seconds=1))
        assert kept(store) == 2

        await age(store, clock, timedelta(seconds=1))

        assert kept(store) == 0
        for leg in LEGS:
            assert await ids(store, leg, a_selection()) == ["m"]

    async def test_what_atlas_does_not_know_stays(
        self, store: AtlasStore, clock: ManualClock
    ) -> None:
        await store.atlas.freeze()
        await know(store, a_memory(id="m"))

        await age(store, clock, recent.LONGEST - timedelta(seconds=1))

        assert kept(store) == 1
        for leg in LEGS:
            assert await ids(store, leg, a_selection()) == ["m"]

    @pytest.mark.parametrize("changed", ["words", "vector", "visibility"])
    async def test_what_atlas_knows_in_a_former_state_stays(
        self, store: AtlasStore, clock: ManualClock, changed: str
    ) -> None:
        await know(store, memory := a_memory(id="m"))
        await store.atlas.freeze(*COLLECTIONS.values())
        if changed == "words":
            await change(store, moved(memory), former_id="former", vector=a_vector(1))
        elif changed == "vector":
            turned = replace(memory, revision=2)
            await change(store, turned, vector=a_vector(0, 1))
        else:
            await change(store, replace(memory, visibility=Visibility.ORG, revision=2))

        await age(store, clock, recent.LINGER)
        assert kept(store) >= 1

        store.atlas.thaw()
        await age(store, clock, timedelta())
        assert kept(store) == 0

    async def test_nothing_stays_for_ever(self, store: AtlasStore, clock: ManualClock) -> None:
        await store.atlas.freeze()
        await know(store, a_memory(id="m"))

        await age(store, clock, recent.LONGEST)

        assert kept(store) == 0

    async def test_what_is_gone_is_let_go(self, store: AtlasStore, clock: ManualClock) -> None:
        await know(store, a_memory(id="m"))
        await store.memories.apply(PROJECT, [Erase(memory_id="m")])

        await age(store, clock, recent.LINGER)

        assert kept(store) == 0

    async def test_only_so_many_are_kept(
        self, store: AtlasStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recent, "MOST", 3)
        for number in range(5):
            await know(store, a_memory(id=f"m{number}"))
            await store.index.tend()

        assert kept(store) == 3
        assert await ids(store, "text", a_selection()) == [f"m{number}" for number in range(5)]


class TestFiltersThatTheIndexDoesNotKnow(OnAtlas):
    async def test_a_key_is_filtered_before_and_after_it_is_indexed(
        self, store: AtlasStore
    ) -> None:
        await know(store, a_memory(id="eu", metadata={"region": "eu"}), a_memory(id="us"))
        europe = a_selection(filter=Comparison("metadata.region", Operator.EQ, "eu"))
        for leg in LEGS:
            assert await ids(store, leg, europe) == ["eu"]
        definition = store.atlas.indexes["memory_semantic"]["agentengine_vector"]
        assert "metadata.region" not in str(definition)

        await store.index.tend()

        definition = store.atlas.indexes["memory_semantic"]["agentengine_vector"]
        assert "metadata.region" in str(definition)
        for leg in LEGS:
            assert await ids(store, leg, europe) == ["eu"]
        _, pipeline = store.atlas.asked[-1]
        assert {"metadata.region": {"$eq": "eu"}} in pipeline[0]["$vectorSearch"]["filter"]["$and"]

    async def test_a_search_asks_for_more_until_a_filter_lets_enough_pass(
        self, store: AtlasStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memory_server.search.atlas.index.MARGIN", 1)
        await know(
            store,
            *(a_memory(id=f"m{number}", metadata={"odd": number % 9}) for number in range(30)),
        )
        eighth = Comparison("metadata.odd", Operator.NIN, tuple(range(8)))
        store.atlas.asked.clear()

        found = await ids(store, "vector", a_selection(filter=eighth, limit=2))

        assert found == ["m17", "m26"]
        rounds = [
            one["$vectorSearch"] for _, (one, *_) in store.atlas.asked if "$vectorSearch" in one
        ]
        assert len(rounds) > 1
