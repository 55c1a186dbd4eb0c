"""Another embedding model over HTTP, and how far it is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from memory_server.app import create_app
from memory_server.settings import ConfigSource
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import (
    CONFIG,
    OWNER_TOKEN,
    FakeModels,
    an_application,
)
from tests.unit.memory_server.services.deployment.steps import OTHER_MODEL, say
from tests.unit.memory_server.services.deployment.test_reembedding import Held

ADMIN = "/api/v1/admin"


@pytest.fixture
async def served(tmp_path: Path, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
    """The owner of a server that holds a vector, and whose next model is held back."""
    models = FakeModels()
    application = an_application(tmp_path, clock, models)
    Held.let, models.kind = asyncio.Event(), Held
    app = create_app(application)
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost", headers=headers
        ) as client,
    ):
        await say(application)
        yield client
        Held.let.set()


async def store(client: httpx.AsyncClient, memory: object) -> None:
    await client.put(f"{ADMIN}/config", json={"memory": memory})


async def test_another_model_is_applied_when_its_vectors_are_asked_for(
    served: httpx.AsyncClient,
) -> None:
    await store(served, OTHER_MODEL)

    refused = await served.post(f"{ADMIN}/apply", json={})
    begun = await served.post(f"{ADMIN}/apply", json={"reembed": True})

    assert refused.json()["code"] == "EMBEDDING_SPACE_CHANGED"
    assert "agentengine memory reembed" in refused.json()["detail"]
    assert begun.json()["applied"]
    assert "1 vectors are made anew in the background" in " ".join(begun.json()["changes"])


async def test_readiness_runtime_and_metrics_tell_how_far_it_is(
    served: httpx.AsyncClient,
) -> None:
    before = await served.get("/metrics")
    await store(served, OTHER_MODEL)
    await served.post(f"{ADMIN}/apply", json={"reembed": True})

    ready = await served.get("/ready")
    runtime = (await served.get(f"{ADMIN}/runtime")).json()
    metrics = (await served.get("/metrics")).text

    told = {
        "state": "running",
        "from": "bge-small-en-v1.5@384",
        "to": "wordllama@256",
        "done": 0,
        "total": 1,
        "problem": None,
    }
    assert (ready.status_code, ready.json()["reembedding"]) == (200, told)
    assert runtime["reembedding"] == told
    assert 'memory_server_reembedding_texts{what="done"} 0.0' in metrics
    assert 'memory_server_reembedding_texts{what="total"} 1.0' in metrics
    assert "memory_server_reembedding_texts{" not in before.text


async def test_the_former_configuration_applied_again_gives_it_up(
    served: httpx.AsyncClient,
) -> None:
    await store(served, OTHER_MODEL)
    await served.post(f"{ADMIN}/apply", json={"reembed": True})
    await store(served, CONFIG)

    back = await served.post(f"{ADMIN}/apply", json={})

    assert "the re-embedding to wordllama@256 is given up" in back.json()["changes"]
    assert (await served.get("/ready")).json()["reembedding"] == {}


async def test_a_delivered_configuration_is_reached_by_a_request_of_its_own(
    tmp_path: Path, clock: ManualClock
) -> None:
    models = FakeModels()
    before = an_application(tmp_path, clock, models)
    await before.store.open()
    await say(before)
    other = an_application(tmp_path, clock, models, before.store, **OTHER_MODEL)
    app = create_app(
        replace(other, settings=replace(other.settings, source=ConfigSource.DELIVERED))
    )
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as owner,
    ):
        needed = (await owner.get("/ready")).json()["reembedding"]
        begun = (await owner.post(f"{ADMIN}/reembedding")).json()
        stranger = await owner.post(f"{ADMIN}/reembedding", headers={"Authorization": "Bearer x"})

    assert needed["state"] == "needed"
    assert begun["changes"] == [
        "1 vectors are made anew in the background: bge-small-en-v1.5@384 -> wordllama@256"
    ]
    assert stranger.status_code == 401
