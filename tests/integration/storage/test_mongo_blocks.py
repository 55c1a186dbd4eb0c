"""Several servers that record exchanges of one conversation at the same moment."""

import asyncio
from itertools import chain

from memory_server.domain.memory import Block
from memory_server.domain.scope import Scope
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.blocks import BlockKeeping, RecordedBlocks
from tests.clock import CountingIds, ManualClock
from tests.integration.storage.mongo_stores import OnMongo
from tests.unit.memory_server.services.blocks_said import a_conversation
from tests.unit.memory_server.services.conftest import ANA

SERVERS = 4


def servers(store: Store, clock: ManualClock) -> list[BlockKeeping]:
    """Return what records for each of some servers, which know nothing of each other."""
    ids = CountingIds()
    return [
        BlockKeeping(
            store=store, embedder=HashingEmbedder(), clock=clock, ids=ids, on_queued=lambda: None
        )
        for _ in range(SERVERS)
    ]


def positions(recorded: RecordedBlocks) -> set[int]:
    return {one.body.position for one in recorded.blocks if isinstance(one.body, Block)}


class TestBlocksOfSeveralServers(OnMongo):
    async def test_no_place_is_given_twice_and_none_is_left_out(
        self, store: Store, clock: ManualClock
    ) -> None:
        calls = [
            one.record(ANA, a_conversation(f"a{n}", "A", "b", "B", context_required=True))
            for n, one in enumerate(servers(store, clock) * 3)
        ]

        recorded = await asyncio.gather(*calls)

        exchanges = 2 * len(calls)
        assert sorted(chain(*map(positions, recorded))) == [*range(1, exchanges + 1)]
        assert len(await store.jobs.list("p", limit=1000)) == exchanges

    async def test_a_key_sent_to_all_of_them_is_stored_once(
        self, store: Store, clock: ManualClock
    ) -> None:
        given = a_conversation("a", "A", idempotency_key="k", context_required=True)

        recorded = await asyncio.gather(
            *(one.record(ANA, given) for one in servers(store, clock) * 2)
        )

        assert sum(not one.is_duplicate for one in recorded) == 1
        assert len(await store.memories.find(Scope(project_id="p"), MemoryQuery())) == 2
        assert len(await store.jobs.list("p")) == 1
