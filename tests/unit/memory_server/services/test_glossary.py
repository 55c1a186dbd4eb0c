from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.memory import Fact, Term
from memory_server.domain.scope import Scope, Visibility
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.services.search import Retrieval, SearchRequest
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.conftest import ANA, BOB

CLEANED = "the heat exchanger was cleaned in May"
ELSEWHERE = Scope(project_id="another", user_id="ana")


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> MemoryKeeping:
    return MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)


async def know(keeping: MemoryKeeping, text: str, **more: Any) -> None:
    await keeping.save(ANA, SaveRequest(body=Fact(label=text, text=text), upsert=True, **more))


async def define(
    keeping: MemoryKeeping, scope: Scope = ANA, *, expands: bool = True, **more: Any
) -> None:
    term = Term(
        domain="plant",
        term="HX",
        definition="moves heat",
        related_terms=("heat exchanger",),
        query_expansion=expands,
    )
    await keeping.save(scope, SaveRequest(body=term, **more))


@pytest.fixture
def retrieval(store: Store, embedder: HashingEmbedder) -> Retrieval:
    return Retrieval(store=store, embedder=embedder)


async def search(retrieval: Retrieval, query: str = "HX", **changes: Any) -> list[str]:
    wanted: dict[str, Any] = {
        "scope": ANA,
        "source": Source.SEMANTIC,
        "query": query,
        "top_k": 9,
        "mode": RetrievalMode.TEXT,
    }
    request = SearchRequest(**wanted | changes)
    return [chunk.content for chunk in (await retrieval.search(request)).chunks]


async def test_what_a_term_is_also_called_is_found_by_its_name(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, CLEANED)
    before = await search(retrieval)
    await define(keeping)

    assert (before, await search(retrieval)) == ([], [CLEANED])


async def test_a_term_is_found_by_what_it_is_also_called(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, "the HX was cleaned in June")
    await define(keeping)

    assert await search(retrieval, "heat exchanger") == ["the HX was cleaned in June"]


async def test_the_words_of_the_question_count_more_than_other_names(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, CLEANED)
    await know(keeping, "the HX was cleaned in the June of that year")
    await define(keeping)

    assert (await search(retrieval))[0].startswith("the HX")


async def test_a_find_by_another_name_answers_the_question_fully(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, CLEANED)
    await define(keeping)

    assert await search(retrieval, "HX cleaned May", threshold=0.99) == [CLEANED]


async def test_a_term_may_be_kept_out_of_questions(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, CLEANED)
    await define(keeping, expands=False)

    assert await search(retrieval) == []


@pytest.mark.parametrize("scope", [BOB, ELSEWHERE])
@pytest.mark.parametrize("visibility", [None, *Visibility])
async def test_no_term_of_others_reaches_a_question(
    keeping: MemoryKeeping, retrieval: Retrieval, scope: Scope, visibility: Visibility | None
) -> None:
    await know(keeping, CLEANED)
    await define(keeping, scope, visibility=visibility)

    assert await search(retrieval) == []


async def test_terms_keep_to_the_visibility_of_the_search(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, CLEANED, visibility=Visibility.ORG)
    await define(keeping, visibility=Visibility.PRIVATE)

    shared = replace(ANA, visibility=Visibility.ORG)

    assert await search(retrieval, scope=shared) == []


async def test_terms_pass_the_filter_of_the_search(
    keeping: MemoryKeeping, retrieval: Retrieval
) -> None:
    await know(keeping, CLEANED, metadata={"plant": "north"})
    await define(keeping, metadata={"plant": "south"})
    north, south = (Comparison("metadata.plant", Operator.EQ, it) for it in ("north", "south"))

    assert await search(retrieval, filter=north) == []
    await define(keeping, metadata={"plant": "north"})
    assert await search(retrieval, filter=north) == [CLEANED]
    assert await search(retrieval, filter=south) == []


async def test_terms_help_in_a_session_too(keeping: MemoryKeeping, retrieval: Retrieval) -> None:
    in_session = replace(ANA, session_id="s")
    body = Fact(label="x", text=CLEANED)
    await keeping.save(in_session, SaveRequest(body=body))
    await define(keeping)

    assert await search(retrieval, scope=in_session) == [CLEANED]


async def test_a_deleted_term_helps_no_more(
    keeping: MemoryKeeping, retrieval: Retrieval, store: Store
) -> None:
    await know(keeping, CLEANED)
    await define(keeping)
    await store.erase(ANA)
    await know(keeping, CLEANED)

    assert await search(retrieval) == []
