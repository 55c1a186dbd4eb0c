"""Memories extracted from turns, and searched type by type."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from evaluation.pipelines.evidence import TYPES, Evidence
from evaluation.pipelines.found import item
from evaluation.pipelines.pipeline import Ingested, Searched, Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.recording import record
from evaluation.pipelines.stopwatch import milliseconds
from evaluation.pipelines.waiting import settle, taken
from evaluation.records import FoundItem
from memory_server.client import FoundMemory, MemoryServerClient


class Extracted:
    """Long-term memory alone: one item is one memory, of any type, the best scores first."""

    name = "extracted"
    stores = "turns and memories"
    extracts = True

    def __init__(self) -> None:
        self._evidence = Evidence()

    def searching(self) -> Mapping[str, Any]:
        return {"types": TYPES}

    async def ingest(
        self, client: MemoryServerClient, place: Place, *, advance: Callable[[], None]
    ) -> Ingested:
        timing: Timing = {}
        turns = await record(client, place, timing, advance=advance)
        await settle(client, place, timing)
        stored = {"turns": turns, **await counted(client, place)}
        return Ingested(stored=stored, timing=timing, **await taken(client, place))

    async def search(
        self, client: MemoryServerClient, place: Place, query: str, *, mode: str, depth: int
    ) -> Searched:
        began = time.perf_counter()
        answers = await asyncio.gather(
            *(
                client.search(query, type=kind, user_id=place.user_id, top_k=depth, mode=mode)
                for kind in TYPES
            )
        )
        total = milliseconds(time.perf_counter() - began)
        every = [memory for answer in answers for memory in answer]
        best = sorted(every, key=lambda memory: (-_score(memory), memory["source"]))[:depth]
        await self._evidence.read(client, place, [memory["id"] for memory in best])
        return Searched(
            found=[of_memory(memory, place, self._evidence) for memory in best],
            timing={"total": total},
        )


def of_memory(
    found: Mapping[str, Any] | FoundMemory, place: Place, evidence: Evidence
) -> FoundItem:
    """Return a memory that was found, with the turns it rests on."""
    return item(
        id=found["id"],
        source=found["source"],
        content=found["content"],
        score=found.get("similarity_score"),
        turns=evidence.of(found["id"]),
        place=place,
        at=found.get("timestamp"),
    )


async def counted(client: MemoryServerClient, place: Place) -> Mapping[str, int]:
    """Return how many memories of each type a user has."""
    counts = await client.memory_counts(user_id=place.user_id)
    return {kind: counts.get(kind, 0) for kind in TYPES}


def _score(memory: FoundMemory) -> float:
    return memory.get("similarity_score") or 0.0
