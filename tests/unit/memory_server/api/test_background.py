"""What the joined server does by itself."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.errors import InvalidProjectConfig
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.unit.memory_server.api.application import an_application
from tests.unit.memory_server.services.conftest import a_turn


@pytest.fixture
async def quiet(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Application]:
    """A server that extracts nothing, so that its snapshots may go as soon as they are old."""
    joined = an_application(tmp_path, clock, extraction={"enabled": []})
    await joined.store.open()
    yield joined
    await joined.close()


async def test_old_snapshots_go_a_little_at_a_time_until_none_is_left(
    quiet: Application, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(120):
        await quiet.recording.record(a_scope(), a_turn("x", session=f"s{number}"))
    await quiet.promotion.flush("shop")
    clock.advance(by=timedelta(days=quiet.settings.memory.snapshot.ttl_days + 1))
    gone: list[int] = []
    done = asyncio.Event()
    expire = quiet.store.snapshots.expire

    async def noting(*, before: datetime, limit: int) -> int:
        gone.append(await expire(before=before, limit=limit))
        if not gone[-1]:
            done.set()
        return gone[-1]

    monkeypatch.setattr(quiet.store.snapshots, "expire", noting)
    stopping = asyncio.Event()
    running = asyncio.create_task(quiet.run(stopping))
    await done.wait()
    stopping.set()
    await running

    assert gone == [50, 50, 20, 0]


async def test_server_told_to_stop_says_that_its_background_work_has_ended(
    quiet: Application,
) -> None:
    stopping = asyncio.Event()
    running = asyncio.create_task(quiet.run(stopping))
    await quiet.store.jobs.counts()
    assert quiet.background.report() == {"state": "running", "problem": None}
    stopping.set()
    await running

    assert quiet.background.report() == {"state": "stopped", "problem": "it was told to stop"}


async def test_background_work_of_a_served_application_is_under_watch(
    tmp_path: Path, clock: ManualClock
) -> None:
    application = an_application(tmp_path, clock)
    app = create_app(application)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        for _ in range(50):
            await application.store.jobs.counts()
        answer = await client.get("/ready")

    assert answer.json()["background"] == {"state": "running", "problem": None}
    assert application.background.state == "stopped"


def test_server_whose_owner_token_could_be_guessed_does_not_start(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.unit.memory_server.api.application.OWNER_TOKEN", "")

    with pytest.raises(InvalidProjectConfig, match="owner token"):
        an_application(tmp_path, clock)
