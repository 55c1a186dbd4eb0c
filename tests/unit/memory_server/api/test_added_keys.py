"""A partition key that is declared later filters what was stored before it was."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_server.app import create_app
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import CONFIG, OWNER_TOKEN, an_application

FLAT = "/api/v1/memory"
BOTH_KEYS = [{"name": "tier", "type": "string"}, {"name": "region.code", "type": "number"}]
MODES = ("text", "semantic", "hybrid")


@asynccontextmanager
async def a_server(
    directory: Path, clock: ManualClock, **memory: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a database file until the block ends."""
    store = SqliteStore(directory / "memory.db", clock=clock)
    app = create_app(an_application(directory, clock, store=store, **memory))
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost", headers=headers
        ) as client,
    ):
        yield client


async def know(client: httpx.AsyncClient) -> None:
    for code in (1, 2, 3):
        body = {"label": f"l{code}", "text": f"pump {code}", "user_id": "ana"}
        metadata = {"region": {"code": code}}
        await client.post(f"{FLAT}/semantic", json=body | {"metadata": metadata})


async def filtered(client: httpx.AsyncClient, mode: str) -> httpx.Response:
    """Ask for the pumps of a region from 2 on."""
    spec = {
        "source": "semantic",
        "mode": mode,
        "metadata_filter": {"metadata.region.code": {"$gte": 2}},
    }
    body = {"query": "pump", "user_id": "ana", "sources": [spec], "include_memories": True}
    return await client.post(f"{FLAT}/retrieval/context-from-sources", json=body)


def found(answer: httpx.Response) -> set[str]:
    [outcome] = answer.json()["metadata"]["source_outcomes"]
    assert (outcome["error"], outcome["retryable"]) == (None, False)
    return {chunk["content"] for chunk in answer.json()["selected_memories"]}


@pytest.mark.parametrize("mode", MODES)
async def test_after_a_restart_with_one_more_key(
    tmp_path: Path, clock: ManualClock, mode: str
) -> None:
    async with a_server(tmp_path, clock) as before:
        await know(before)
        refused = await filtered(before, mode)

    async with a_server(tmp_path, clock, metadata_partition_key=BOTH_KEYS) as after:
        answer = await filtered(after, mode)

    assert refused.status_code == 400
    assert "metadata.region.code" in refused.json()["error"]
    assert found(answer) == {"pump 2", "pump 3"}


async def test_after_an_apply_with_one_more_key(tmp_path: Path, clock: ManualClock) -> None:
    async with a_server(tmp_path, clock) as client:
        await know(client)
        memory = CONFIG | {"metadata_partition_key": BOTH_KEYS}
        await client.put("/api/v1/admin/config", json={"memory": memory})
        applied = await client.post("/api/v1/admin/apply", json={})

        assert applied.json()["applied"] is True
        for mode in MODES:
            assert found(await filtered(client, mode)) == {"pump 2", "pump 3"}
