"""Contexts over a store in memory."""

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.formats import FormatStyle
from memory_server.domain.partitions import BOTH, Partitions
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.context import ContextBuilding
from memory_server.services.memories import MemoryKeeping
from memory_server.services.reranking import Reranking
from memory_server.services.search import Retrieval
from tests.clock import CountingIds, ManualClock
from tests.rerankers import LastFirst


@pytest.fixture
def keeping(
    store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds
) -> MemoryKeeping:
    return MemoryKeeping(store=store, embedder=embedder, clock=clock, ids=ids)


@pytest.fixture
def reranker() -> LastFirst:
    return LastFirst()


@pytest.fixture
def context(store: Store, embedder: HashingEmbedder, reranker: LastFirst) -> ContextBuilding:
    return ContextBuilding(
        store=store,
        retrieval=Retrieval(store=store, embedder=embedder),
        reranking=Reranking(reranker),
        partitions=Partitions(keys={"tier": "string"}, index={Source.SEMANTIC: BOTH}),
        default_style=FormatStyle.JINJA2,
    )
