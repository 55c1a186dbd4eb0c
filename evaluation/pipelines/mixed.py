"""Blocks and extracted memories, in the one order that a context from sources gives them."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from evaluation.pipelines.blocks import SOURCE, content_of_block
from evaluation.pipelines.evidence import TYPES, Evidence
from evaluation.pipelines.exchanges import record_exchanges, turns_of_block
from evaluation.pipelines.extracted import counted, of_memory
from evaluation.pipelines.found import item
from evaluation.pipelines.pipeline import Ingested, Searched, Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.recording import record
from evaluation.pipelines.stopwatch import milliseconds
from evaluation.pipelines.waiting import settle, taken
from evaluation.records import FoundItem
from memory_server.client import FoundMemory, MemoryServerClient

SOURCES = (SOURCE, *TYPES)
WHOLE = 10_000_000
"""Tokens of a context in which everything found has room, so that its order is seen whole."""


class Mixed:
    """All sources: one item is one exchange or one memory."""

    name = "mixed"
    stores = "turns, memories and blocks"
    extracts = True

    def __init__(self, *, rerank: bool) -> None:
        self._rerank = rerank
        self._evidence = Evidence()

    def searching(self) -> Mapping[str, Any]:
        return {"sources": SOURCES, "rerank": self._rerank, "max_tokens": WHOLE}

    async def ingest(
        self, client: MemoryServerClient, place: Place, *, advance: Callable[[], None]
    ) -> Ingested:
        timing: Timing = {}
        turns = await record(client, place, timing, advance=advance)
        blocks = await record_exchanges(client, place, timing, advance=_uncounted)
        await settle(client, place, timing)
        stored = {"turns": turns, **blocks, **await counted(client, place)}
        return Ingested(stored=stored, timing=timing, **await taken(client, place))

    async def search(
        self, client: MemoryServerClient, place: Place, query: str, *, mode: str, depth: int
    ) -> Searched:
        began = time.perf_counter()
        answer = await client.context_from_sources(
            query,
            sources=[{"source": name, "mode": mode, "top_k": depth} for name in SOURCES],
            user_id=place.user_id,
            rerank=self._rerank,
            max_tokens=WHOLE,
            include_memories=True,
        )
        total = milliseconds(time.perf_counter() - began)
        stages = answer["metadata"]["timing"]
        best = (answer["selected_memories"] or ())[:depth]
        memories = [one["id"] for one in best if one["source"] != SOURCE]
        await self._evidence.read(client, place, memories)
        return Searched(
            found=[self._found(one, place) for one in best],
            timing={
                **{name: milliseconds(spent) for name, spent in stages.items()},
                "total": total,
            },
        )

    def _found(self, found: FoundMemory, place: Place) -> FoundItem:
        if found["source"] != SOURCE:
            return of_memory(found, place, self._evidence)
        block = {"message": found["content"], **found["metadata"]}
        return item(
            id=found["id"],
            source=SOURCE,
            content=content_of_block(block),
            score=found.get("similarity_score"),
            turns=turns_of_block(block, place),
            place=place,
            at=found.get("timestamp"),
        )


def _uncounted() -> None:
    """Be the progress of turns that were counted already."""
