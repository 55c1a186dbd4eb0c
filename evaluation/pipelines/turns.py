"""Turns recorded and searched as they were said."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from evaluation.pipelines.found import of_turn
from evaluation.pipelines.pipeline import Ingested, Searched, Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.recording import record
from evaluation.pipelines.stopwatch import milliseconds
from evaluation.pipelines.waiting import settle
from memory_server.client import MemoryServerClient


class Turns:
    """Short-term memory alone: one item is one turn."""

    name = "turns"
    stores = "turns"
    extracts = False

    def searching(self) -> Mapping[str, Any]:
        return {}

    async def ingest(
        self, client: MemoryServerClient, place: Place, *, advance: Callable[[], None]
    ) -> Ingested:
        timing: Timing = {}
        turns = await record(client, place, timing, advance=advance)
        await settle(client, place, timing)
        return Ingested(stored={"turns": turns}, timing=timing)

    async def search(
        self, client: MemoryServerClient, place: Place, query: str, *, mode: str, depth: int
    ) -> Searched:
        began = time.perf_counter()
        found = await client.search_turns(query, user_id=place.user_id, top_k=depth, mode=mode)
        total = milliseconds(time.perf_counter() - began)
        return Searched(found=[of_turn(one, place) for one in found], timing={"total": total})
