"""What becomes of a value when somebody only remarks that it is another now."""

from collections.abc import Iterator, Sequence

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.memory import MemoryType
from memory_server.ports.store import Store
from memory_server.services.search import Retrieval, SearchRequest
from tests.chat_server import ChatServer, running
from tests.clock import CountingIds, ManualClock
from tests.integration.reconciliation.cases import heard
from tests.integration.reconciliation.life import ANA, RULES, Life
from tests.integration.storage.sqlite_stores import InMemory

KINDS = (MemoryType.SEMANTIC, MemoryType.EPISODIC)
TARGET = "My savings target is $12,500."
RAISED = "The savings went better than planned, so they have become $14,000 as a target."


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with running() as server:
        yield server


@pytest.fixture
def life(store: Store, clock: ManualClock, ids: CountingIds, chat: ChatServer) -> Life:
    return Life(store=store, clock=clock, ids=ids, adapter=RULES, chat=chat, kinds=KINDS)


async def found(life: Life, query: str, source: Source) -> Sequence[str]:
    retrieval = Retrieval(store=life.store, embedder=life.embedder)
    request = SearchRequest(scope=ANA, source=source, query=query, top_k=5)
    return [chunk.content for chunk in (await retrieval.search(request)).chunks]


class TestRemarks(InMemory):
    async def test_a_remark_gives_the_fact_it_is_about_another_value(self, life: Life) -> None:
        await life.live_through(heard(0, TARGET), heard(9, RAISED))

        (memory,) = await life.live()
        former, _ = await life.store.memories.history(ANA, memory.id)
        assert memory.claim
        assert (memory.claim.attribute, memory.claim.value) == ("savings target", "$14,000")
        assert "$14,000" in memory.body.chunk_text
        assert "$12,500" in former.body.chunk_text
        assert "UPDATE" in life.actions

    async def test_a_remark_said_before_completes_the_history(self, life: Life) -> None:
        await life.live_through(heard(9, TARGET), heard(0, RAISED))

        (memory,) = await life.live()
        assert "$12,500" in memory.body.chunk_text
        assert len(await life.store.memories.history(ANA, memory.id)) == 2

    async def test_a_remark_about_nothing_that_is_known_is_not_remembered(self, life: Life) -> None:
        await life.live_through(
            heard(0, TARGET), heard(9, "They moved me over to room 12 by now, which is nice.")
        )

        assert await life.texts() == ["The user's savings target is $12,500."]

    async def test_the_episode_with_the_later_word_is_found_first(self, life: Life) -> None:
        query = "What is my savings target?"

        await life.live_through(heard(0, TARGET), heard(9, RAISED))

        first, second = await found(life, query, Source.EPISODIC)
        assert ("$14,000" in first, "$12,500" in second) == (True, True)

    async def test_of_a_time_that_is_past_the_nearer_episode_is_found_first(
        self, life: Life
    ) -> None:
        query = "What was my savings target before?"

        await life.live_through(heard(0, TARGET), heard(9, RAISED))

        assert "$12,500" in (await found(life, query, Source.EPISODIC))[0]
