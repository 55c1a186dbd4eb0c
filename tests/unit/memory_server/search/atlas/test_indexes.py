"""Search indexes are made where they are missing, added to, and used once they answer."""

from contextlib import nullcontext
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.search.atlas.definitions import Leg
from memory_server.search.atlas.indexes import AtlasIndexes, answering
from memory_server.storage.mongo.atlas import COLLECTIONS
from tests.atlas import QUOTA, AtlasStandIn
from tests.clock import ManualClock
from tests.factories import OTHER_SPACE, SPACE

TEXT, VECTOR = "agentengine_text", "agentengine_vector"
GOLD = Comparison("metadata.tier", Operator.EQ, "gold")


class Nowhere:
    """A database of which only the search indexes are asked."""

    def __getitem__(self, _collection: str) -> None:
        return None

    def translated(self) -> Any:
        return nullcontext()


@pytest.fixture
def atlas() -> AtlasStandIn:
    return AtlasStandIn(Nowhere())  # type: ignore[arg-type]


@pytest.fixture
def indexes(atlas: AtlasStandIn, clock: ManualClock) -> AtlasIndexes:
    return AtlasIndexes(atlas, COLLECTIONS, clock)


def made(atlas: AtlasStandIn) -> set[tuple[str, str]]:
    return {(name, index) for name, known in atlas.indexes.items() for index in known}


async def test_every_collection_gets_two_indexes(
    atlas: AtlasStandIn, indexes: AtlasIndexes
) -> None:
    indexes.need_space(SPACE)

    await indexes.ensure()

    assert made(atlas) == {(name, one) for name in COLLECTIONS.values() for one in (TEXT, VECTOR)}
    assert all(one["status"] == "READY" and one["answers"] for one in indexes.describe())


async def test_without_a_space_there_are_indexes_for_words_only(
    atlas: AtlasStandIn, indexes: AtlasIndexes
) -> None:
    await indexes.ensure()

    assert {index for _, index in made(atlas)} == {TEXT}
    assert indexes.words(Source.STM) is not None
    assert indexes.vectors(Source.STM, SPACE) is None


async def test_what_is_there_is_left_as_it_is(atlas: AtlasStandIn, indexes: AtlasIndexes) -> None:
    await indexes.ensure()
    atlas.asked.clear()
    atlas.most_indexes = 0

    await indexes.ensure()

    assert {name for _, (stage, *_) in atlas.asked for name in stage} == {"$listSearchIndexes"}


async def test_an_index_that_is_built_does_not_answer_yet(
    atlas: AtlasStandIn, indexes: AtlasIndexes
) -> None:
    atlas.builds_at_once = False
    await indexes.ensure()

    assert indexes.words(Source.SEMANTIC) is None
    assert f"memory_semantic.{TEXT}" in indexes.building()

    atlas.finish()
    await indexes.refresh()

    assert indexes.words(Source.SEMANTIC) is not None
    assert indexes.building() == []


async def test_while_a_key_is_added_the_former_definition_answers(
    atlas: AtlasStandIn, indexes: AtlasIndexes
) -> None:
    await indexes.ensure()
    atlas.builds_at_once = False
    indexes.need_keys(GOLD)
    assert indexes.is_behind

    await indexes.ensure()
    fields = indexes.words(Source.SEMANTIC)

    assert fields is not None
    assert "metadata.tier" not in fields

    atlas.finish()
    await indexes.refresh()
    fields = indexes.words(Source.SEMANTIC)

    assert fields is not None
    assert "metadata.tier" in fields
    assert not indexes.is_behind


async def test_a_new_space_is_added_beside_the_old_one(
    atlas: AtlasStandIn, indexes: AtlasIndexes
) -> None:
    indexes.need_space(SPACE)
    await indexes.ensure()
    atlas.builds_at_once = False
    indexes.need_space(OTHER_SPACE)

    await indexes.ensure()

    assert indexes.vectors(Source.STM, SPACE) is not None
    assert indexes.vectors(Source.STM, OTHER_SPACE) is None
    atlas.finish()
    await indexes.refresh()
    assert indexes.vectors(Source.STM, OTHER_SPACE) is not None


async def test_what_a_small_cluster_has_no_room_for_is_named(
    atlas: AtlasStandIn, indexes: AtlasIndexes, caplog: pytest.LogCaptureFixture
) -> None:
    atlas.most_indexes = 3
    indexes.need_space(SPACE)

    await indexes.ensure()
    await indexes.refresh()

    assert made(atlas) == {
        ("memory_semantic", TEXT),
        ("memory_semantic", VECTOR),
        ("memory_turns", TEXT),
    }
    missing = [one for one in indexes.describe() if one["status"] == "QUOTA"]
    assert len(missing) == 11
    assert missing[0]["reason"] == QUOTA
    assert not any(one["answers"] for one in missing)
    assert indexes.vectors(Source.SEMANTIC, SPACE) is not None
    assert indexes.vectors(Source.STM, SPACE) is None
    assert "memory_turns.agentengine_vector" in caplog.text


async def test_an_index_that_another_server_made_meanwhile_is_used(
    atlas: AtlasStandIn, indexes: AtlasIndexes, clock: ManualClock
) -> None:
    await AtlasIndexes(atlas, COLLECTIONS, clock).ensure()
    listed, atlas.indexes = atlas.indexes, {}
    original = AtlasIndexes._list

    async def blind(self: AtlasIndexes, source: Source) -> Any:
        found = await original(self, source)
        atlas.indexes[COLLECTIONS[source]] = listed[COLLECTIONS[source]]
        return found

    indexes._list = blind.__get__(indexes)  # type: ignore[method-assign]
    await indexes.ensure()

    assert indexes.words(Source.SEMANTIC) is not None


async def test_waiting_for_indexes_has_an_end(
    atlas: AtlasStandIn, indexes: AtlasIndexes, clock: ManualClock
) -> None:
    atlas.builds_at_once = False
    await indexes.ensure()

    assert await indexes.wait(0) is False

    atlas.finish()
    assert await indexes.wait(0) is True


def test_an_index_that_is_stale_does_not_answer() -> None:
    known = {
        "queryable": True,
        "status": "STALE",
        "latestDefinition": {"fields": [{"type": "filter", "path": "id"}]},
    }

    assert answering(Leg.VECTOR, known, frozenset({"id"})) == frozenset()


def test_of_several_hosts_only_what_all_have_is_asked() -> None:
    def host(*paths: str) -> dict[str, Any]:
        fields = [{"type": "filter", "path": path} for path in paths]
        return {"mainIndex": {"queryable": True, "definition": {"fields": fields}}}

    known = {
        "queryable": True,
        "status": "BUILDING",
        "statusDetail": [host("id", "user_id", "metadata.tier"), host("id", "user_id")],
    }

    assert answering(Leg.VECTOR, known) == {"id", "user_id"}


def test_where_no_host_tells_what_answered_before_still_does() -> None:
    known = {"queryable": True, "status": "BUILDING"}

    assert answering(Leg.VECTOR, known, frozenset({"id"})) == {"id"}
