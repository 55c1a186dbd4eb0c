"""What a memory rests on is read however many memories there are."""

import asyncio
from collections import Counter

import httpx
import pytest

from evaluation.pipelines.evidence import TYPES, Evidence
from evaluation.pipelines.extracted import Extracted, counted
from evaluation.pipelines.place import Place
from memory_server.client import MemoryDocument, MemoryServerClient
from tests.evaluation.talk import a_conversation

PLACE = Place.of(a_conversation(), ingestion="i")
LISTED = 1
"""How many memories of a type one list holds here; what was extracted is more."""


async def test_what_a_list_leaves_out_is_read_too(client: MemoryServerClient) -> None:
    memories = await _stored(client)
    assert max(Counter(memory["type"] for memory in memories).values()) > LISTED
    whole, small = Evidence(), Evidence(listed=LISTED)
    ids = [memory["id"] for memory in memories]

    await whole.read(client, PLACE, ids)
    await small.read(client, PLACE, ids)

    assert {one: small.of(one) for one in ids} == {one: whole.of(one) for one in ids}
    assert all(small.of(one) for one in ids)


async def test_a_memory_is_read_once(client: MemoryServerClient) -> None:
    memories = await _stored(client)
    read: Counter[str] = Counter()

    async def note(request: httpx.Request) -> None:
        read[str(request.url)] += 1

    client._wire.http.event_hooks["request"].append(note)
    evidence = Evidence(listed=LISTED)
    for _ in range(3):
        await evidence.read(client, PLACE, [memory["id"] for memory in memories])

    assert read
    assert set(read.values()) == {1}


async def test_every_memory_is_counted(client: MemoryServerClient) -> None:
    memories = await _stored(client)

    counts = await counted(client, PLACE)

    assert counts == {kind: sum(one["type"] == kind for one in memories) for kind in TYPES}


async def test_what_was_not_read_is_not_taken_for_resting_on_nothing(
    client: MemoryServerClient,
) -> None:
    evidence = Evidence()
    await evidence.read(client, PLACE, ())

    with pytest.raises(KeyError):
        evidence.of("unread")


async def _stored(client: MemoryServerClient) -> list[MemoryDocument]:
    await Extracted().ingest(client, PLACE, advance=lambda: None)
    lists = await asyncio.gather(
        *(client.memories(user_id=PLACE.user_id, type=kind) for kind in TYPES)
    )
    return [memory for memories in lists for memory in memories]
