"""What a server does and answers by its role."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.bootstrap import join
from memory_server.domain.job import JobState
from memory_server.domain.server import HEARTBEAT
from memory_server.settings import ServerRole
from tests.clock import START, ManualClock
from tests.unit.memory_server.api.application import OWNER_TOKEN, PROJECT, an_application

TURN = {"session_id": "s", "role": "user", "content": "I live in Oslo.", "user_id": "ana"}

Play = Callable[[ServerRole], Application]


@pytest.fixture
def play(tmp_path: Path, clock: ManualClock) -> Play:
    """Join a server of a role."""

    def played(role: ServerRole) -> Application:
        whole = an_application(tmp_path, clock)
        return join(
            replace(whole.settings, role=role),
            store=whole.store,
            providers=whole.providers,
            clock=clock,
            models=whole.models,
        )

    return played


@asynccontextmanager
async def alive(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    """Let a server live, with its background work, and call it as its owner."""
    app = create_app(application)
    transport = httpx.ASGITransport(app)
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client,
    ):
        for _ in range(50):
            await application.store.jobs.counts()
        yield client


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/api/v1/memory/turns"), ("GET", "/api/v1/admin/jobs"), ("GET", "/nowhere")],
)
async def test_a_worker_sends_everybody_elsewhere(play: Play, method: str, path: str) -> None:
    async with alive(play(ServerRole.WORKER)) as client:
        answer = await client.request(method, path, json=TURN)

    assert (answer.status_code, answer.json()["code"]) == (421, "WORKER_ONLY")
    assert "role api or all" in answer.json()["error"]


async def test_a_worker_tells_how_it_is(play: Play) -> None:
    async with alive(play(ServerRole.WORKER)) as client:
        health = await client.get("/health")
        ready = await client.get("/ready")
        metrics = await client.get("/metrics")

    assert (health.status_code, metrics.status_code) == (200, 200)
    assert (ready.json()["role"], ready.json()["background"]["state"]) == ("worker", "running")
    assert 'memory_server_servers{role="worker"} 1.0' in metrics.text


async def test_an_api_server_begins_no_job_and_says_that_nobody_does(play: Play) -> None:
    application = play(ServerRole.API)
    async with alive(application) as client:
        recorded = await client.post("/api/v1/memory/turns", json=TURN)
        await client.post("/api/v1/admin/flush")
        for _ in range(50):
            await asyncio.sleep(0)
        jobs = await application.store.jobs.list(PROJECT)
        ready = await client.get("/ready")

    assert recorded.status_code == 201
    assert {job.state for job in jobs} == {JobState.QUEUED}
    assert (ready.status_code, ready.json()["background"]["state"]) == (200, "elsewhere")
    assert ready.json()["warnings"][0].startswith("no server that does background work is alive")


async def test_a_server_of_all_roles_has_nothing_to_be_warned_of(play: Play) -> None:
    async with alive(play(ServerRole.ALL)) as client:
        ready = (await client.get("/ready")).json()

    assert (ready["role"], ready["background"]["state"]) == ("all", "running")
    assert (ready["warnings"], len(ready["servers"])) == ([], 1)


async def test_who_is_at_work_is_no_strangers_affair(play: Play) -> None:
    transport = httpx.ASGITransport(create_app(play(ServerRole.API)), client=("203.0.113.9", 4000))
    async with httpx.AsyncClient(transport=transport, base_url="http://memory.test") as stranger:
        ready = (await stranger.get("/ready")).json()

    assert (ready["servers"], ready["warnings"]) == ([], [])


async def test_a_server_that_stops_is_alive_to_the_others_until_it_has_ended(
    tmp_path: Path, clock: ManualClock
) -> None:
    application = an_application(tmp_path, clock)
    app = create_app(application)
    async with app.router.lifespan_context(app):
        await app.state.deployment.drain()
        for _ in range(10):
            clock.advance(by=HEARTBEAT)
            for _ in range(20):
                await application.store.jobs.counts()
        (seen,) = await application.store.servers.seen_since(clock.now() - HEARTBEAT)
        ended = application.background.state
    left = await application.store.servers.seen_since(START)

    assert (seen.is_stopping, ended) == (True, "stopped")
    assert left == []
