"""Promotion with the options a test gives."""

from datetime import timedelta

import pytest

from memory_server.domain.memory import MemoryType
from memory_server.domain.promotion import PromotionPolicy
from memory_server.ports.embedder import Embedder
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.promotion import Promotion
from tests.clock import CountingIds, ManualClock
from tests.unit.memory_server.services.promotion.steps import Build


@pytest.fixture
def build(store: Store, embedder: HashingEmbedder, clock: ManualClock, ids: CountingIds) -> Build:
    def make(
        threshold: float | None = None,
        enabled: tuple[MemoryType, ...] = (),
        embedder: Embedder = embedder,
    ) -> Promotion:
        return Promotion(
            store=store,
            embedder=embedder,
            clock=clock,
            ids=ids,
            policy=PromotionPolicy(
                max_messages=3,
                stale_after=timedelta(minutes=3),
                topic_shift_threshold=threshold,
            ),
            enabled=enabled or (MemoryType.SEMANTIC, MemoryType.EPISODIC),
            on_queued=lambda: None,
        )

    return make
