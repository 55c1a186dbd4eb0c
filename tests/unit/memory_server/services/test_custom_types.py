from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.custom_type import CustomType
from memory_server.domain.job import JobKind
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.retry import RetryPolicy
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import InvalidRequest, ProviderUnavailable, TooLarge, UnknownCustomType
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.custom_types import CustomTypes
from memory_server.services.embedding import LateEmbedding
from memory_server.services.memories import MemoryKeeping
from memory_server.services.search import Found, Retrieval, SearchRequest
from memory_server.worker.runner import Runner
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, BOB

DECLARED = [CustomType(name="ticket", tags=("plant",)), CustomType(name="note")]
NOBODY = Scope(project_id="p", userless=True)


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def retrieval(store: Store, embedder: HashingEmbedder) -> Retrieval:
    return Retrieval(store=store, embedder=embedder)


@pytest.fixture
def types(
    store: Store,
    embedder: HashingEmbedder,
    retrieval: Retrieval,
    clock: ManualClock,
    ids: CountingIds,
) -> CustomTypes:
    keeping = MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)
    return CustomTypes(declared=DECLARED, enabled=True, keeping=keeping, retrieval=retrieval)


async def save(types: CustomTypes, owner: Scope = ANA, **changes: Any) -> Memory:
    values: dict[str, Any] = {"content": "the pump leaks", "tags": {}, "contextual_metadata": {}}
    return await types.save(owner, "ticket", **values | changes)


async def find(types: CustomTypes, scope: Scope = ANA, query: str = "pump", **tags: Any) -> Found:
    return await types.retrieve(scope, "ticket", query=query, tags=tags, top_k=10)


async def test_a_record_is_private_and_its_owners_with_the_agent_that_wrote_it(
    types: CustomTypes,
) -> None:
    record = await save(types, replace(ANA, agent_id="planner"))

    assert (record.user_id, record.agent_id, record.session_id) == ("ana", "planner", None)
    assert record.visibility is Visibility.PRIVATE
    [chunk] = (await find(types)).chunks
    assert (chunk.metadata["user_id"], chunk.metadata["agent_id"]) == ("ana", "planner")


@pytest.mark.parametrize("owner", [ANA, BOB, NOBODY])
async def test_owners_find_their_own_records_alone(types: CustomTypes, owner: Scope) -> None:
    records = {one.user_id: await save(types, one) for one in (ANA, BOB, NOBODY)}

    found = await find(types, owner)

    assert [chunk.id for chunk in found.chunks] == [records[owner.user_id].id]


async def test_the_same_is_saved_as_often_as_it_is_saved(types: CustomTypes) -> None:
    assert (await save(types)).id != (await save(types)).id
    assert len((await find(types)).chunks) == 2


async def test_nothing_is_stored_with_a_tag_that_is_not_declared(types: CustomTypes) -> None:
    with pytest.raises(InvalidRequest):
        await save(types, tags={"plants": "north"})

    assert (await find(types)).chunks == []


async def test_a_record_has_the_size_of_a_memory(types: CustomTypes) -> None:
    with pytest.raises(TooLarge):
        await save(types, content="x" * 300_000)


@pytest.mark.parametrize("source", [source for source in Source if source is not Source.CUSTOM])
async def test_no_other_source_finds_a_record(
    types: CustomTypes, retrieval: Retrieval, source: Source
) -> None:
    await save(types)

    request = SearchRequest(scope=ANA, source=source, query="the pump leaks", top_k=10)
    assert (await retrieval.search(request)).chunks == []


async def test_a_record_that_could_not_be_embedded_is_found_by_words_and_gets_its_vector_late(
    types: CustomTypes,
    store: Store,
    embedder: HashingEmbedder,
    clock: ManualClock,
    ids: CountingIds,
) -> None:
    embedder.failure = ProviderUnavailable()
    record = await save(types)
    found = await find(types)
    embedder.failure = None
    late = LateEmbedding(store=store, embedder=embedder, clock=clock, ids=ids)

    assert (await late.sweep("p"), record.has_embedding) == (1, False)
    assert [chunk.id for chunk in found.chunks] == [record.id]
    assert found.degraded

    handlers = {JobKind.EMBED: late.work_off}
    await Runner(
        jobs=store.jobs, handlers=handlers, clock=clock, worker="w", retry=RetryPolicy()
    ).run_until_idle()
    assert [one.has_embedding for one in await store.memories.find(ANA, MemoryQuery())] == [True]


async def test_erasing_a_user_takes_their_records(types: CustomTypes, store: Store) -> None:
    await save(types)
    bobs = await save(types, BOB)

    counts = await store.erase(ANA)

    assert counts["records"] == 1
    assert (await find(types)).chunks == []
    assert [chunk.id for chunk in (await find(types, BOB)).chunks] == [bobs.id]


async def test_a_type_is_known_by_its_own_name_and_custom_means_all(types: CustomTypes) -> None:
    assert types.meant(None) == (None, None)
    assert types.meant("semantic") == (MemoryType.SEMANTIC, None)
    assert types.meant("custom") == (MemoryType.CUSTOM, None)
    assert types.meant("ticket") == (MemoryType.CUSTOM, "ticket")
    with pytest.raises(InvalidRequest, match=r"expected one of semantic, .*, ticket, note"):
        types.meant("facts")


async def test_an_unknown_type_comes_before_what_is_wrong_with_its_tags(
    types: CustomTypes,
) -> None:
    with pytest.raises(UnknownCustomType):
        await types.save(ANA, "nope", content="c", tags={"plant": []}, contextual_metadata={})
