"""Exchanges stored and searched as blocks."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from evaluation.pipelines.exchanges import record_exchanges, turns_of_block
from evaluation.pipelines.found import item
from evaluation.pipelines.pipeline import Ingested, Searched, Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.stopwatch import milliseconds
from evaluation.pipelines.waiting import settle
from evaluation.records import FoundItem
from memory_server.client import MemoryServerClient

SOURCE = "block"


class Blocks:
    """Exchange blocks alone: one item is one exchange."""

    name = "blocks"
    stores = "blocks"
    extracts = False

    def searching(self) -> Mapping[str, Any]:
        return {}

    async def ingest(
        self, client: MemoryServerClient, place: Place, *, advance: Callable[[], None]
    ) -> Ingested:
        timing: Timing = {}
        stored = await record_exchanges(client, place, timing, advance=advance)
        await settle(client, place, timing)
        return Ingested(stored=stored, timing=timing)

    async def search(
        self, client: MemoryServerClient, place: Place, query: str, *, mode: str, depth: int
    ) -> Searched:
        began = time.perf_counter()
        answer = await client.blocks.search(query, user_id=place.user_id, top_k=depth, mode=mode)
        total = milliseconds(time.perf_counter() - began)
        return Searched(
            found=[_found(block, place) for block in answer["blocks"]],
            timing={"total": total, **answer["timing"]},
        )


def content_of_block(block: Mapping[str, Any]) -> str:
    """Return what a reader is given of a block."""
    return "\n".join(part for part in (block["message"], *block.get("contexts", ())) if part)


def _found(block: Mapping[str, Any], place: Place) -> FoundItem:
    return item(
        id=block["id"],
        source=SOURCE,
        content=content_of_block(block),
        score=block.get("similarity_score"),
        turns=turns_of_block(block, place),
        place=place,
        at=block.get("timestamp"),
    )
