"""Every pipeline keeps the same promises."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import StoredDifferently
from evaluation.pipelines import pipeline_of
from evaluation.pipelines.place import Place
from evaluation.suite import PipelineName
from memory_server.client import MemoryServerClient
from tests import chat_server
from tests.evaluation.conftest import serving
from tests.evaluation.talk import SAID, a_conversation

PIPELINES: tuple[PipelineName, ...] = ("turns", "blocks", "extracted", "mixed")
PLACE = Place.of(a_conversation(), ingestion="i")
FACTS: dict[str, Any] = {"extraction": {"enabled": ["semantic"]}}


def uncounted() -> None:
    """Count nothing."""


@pytest.mark.parametrize("name", PIPELINES)
async def test_what_is_stored_is_found_with_the_turns_it_rests_on(
    client: MemoryServerClient, name: PipelineName
) -> None:
    pipeline = pipeline_of(name)
    advanced: list[int] = []

    ingested = await pipeline.ingest(client, PLACE, advance=lambda: advanced.append(1))
    found = await pipeline.search(
        client, PLACE, "Which instrument is played in an orchestra?", mode="hybrid", depth=5
    )

    assert len(advanced) == len(SAID)
    assert sum(ingested.stored.values()) > 0
    assert found.timing["total"] > 0
    best = found.found[0]
    assert "cello" in best.content
    assert "second:4" in best.turns
    assert list(best.sessions) == ["second"]
    assert best.tokens > 0
    assert len(found.found) <= 5
    named = {key for one in found.found for key in one.turns}
    assert named <= {turn.key for turn in PLACE.turns()}


@pytest.mark.parametrize("name", PIPELINES)
async def test_a_second_time_stores_nothing(client: MemoryServerClient, name: PipelineName) -> None:
    first = await pipeline_of(name).ingest(client, PLACE, advance=uncounted)
    again = await pipeline_of(name).ingest(client, PLACE, advance=uncounted)

    assert again.stored == first.stored
    turns = await client.search_turns("cello", user_id=PLACE.user_id, top_k=50)
    blocks = await client.blocks.list(user_id=PLACE.user_id)
    assert len(turns) in {0, len(SAID)}
    assert len(blocks) in {0, first.stored.get("blocks")}


async def test_what_half_a_run_stored_is_completed(client: MemoryServerClient) -> None:
    half = Place.of(a_conversation(said=SAID[:2]), ingestion="i")
    began = Place(user_id=PLACE.user_id, sessions=_renamed(half), _sessions={})
    await pipeline_of("turns").ingest(client, began, advance=uncounted)

    await pipeline_of("turns").ingest(client, PLACE, advance=uncounted)

    found = await client.search_turns("the", user_id=PLACE.user_id, top_k=50)
    assert len({one["id"] for one in found}) == len(found) == len(SAID)


@pytest.mark.parametrize("name", ["turns", "extracted", "mixed"])
async def test_turns_of_somebody_else_are_told(
    client: MemoryServerClient, name: PipelineName
) -> None:
    session = next(iter(PLACE.sessions))
    await client.record_turn(
        session_id=session, user_id=PLACE.user_id, role="user", content="Not of the data"
    )

    with pytest.raises(StoredDifferently, match="turn 1 of a session was stored as turn 2"):
        await pipeline_of(name).ingest(client, PLACE, advance=uncounted)


async def test_exchanges_that_are_others_are_told(client: MemoryServerClient) -> None:
    session = next(iter(PLACE.sessions))
    await client.blocks.record(
        [{"role": "user", "content": "Not of the data", "id": "9"}],
        conversation_id=session,
        user_id=PLACE.user_id,
        idempotency_key="1",
    )

    with pytest.raises(StoredDifferently):
        await pipeline_of("blocks").ingest(client, PLACE, advance=uncounted)


@pytest.mark.parametrize("name", PIPELINES)
async def test_the_server_is_told_no_name_of_the_data(
    client: MemoryServerClient, name: PipelineName
) -> None:
    await pipeline_of(name).ingest(client, PLACE, advance=uncounted)

    turns = await client.search_turns("cello", user_id=PLACE.user_id, top_k=50)
    blocks = await client.blocks.list(user_id=PLACE.user_id)
    stored = str([*turns, *blocks])
    for telling in ("first", "second", "talk", "plain"):
        assert telling not in stored


@pytest.mark.parametrize(("name", "jobs"), [("extracted", 2), ("mixed", 2)])
async def test_what_extraction_took_of_a_model_is_told(
    tmp_path: Path, name: PipelineName, jobs: int
) -> None:
    with chat_server.running() as model:
        hosted = {"provider": "openai", "model": "tiny", "base_url": model.url}
        async with serving(tmp_path, extraction_llm=hosted, **FACTS) as client:
            ingested = await pipeline_of(name).ingest(client, PLACE, advance=uncounted)

    assert len(model.received) == jobs
    taken = (ingested.calls, ingested.tokens_in, ingested.tokens_out)
    assert taken == (jobs, jobs * chat_server.READ, jobs * chat_server.WROTE)


def _renamed(half: Place) -> dict[str, list]:  # type: ignore[type-arg]
    names = list(PLACE.sessions)
    return {name: list(turns) for name, turns in zip(names, half.sessions.values(), strict=False)}
