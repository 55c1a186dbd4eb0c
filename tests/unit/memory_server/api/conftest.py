"""The routes in process, over a store in memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import OWNER_TOKEN, an_application


@pytest.fixture
async def application(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Application]:
    """A server whose store is open and whose worker rests."""
    joined = an_application(tmp_path, clock)
    await joined.store.open()
    yield joined
    await joined.close()


@pytest.fixture
async def client(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    """A caller on this machine, without a token; what fails inside is an answer."""
    transport = httpx.ASGITransport(create_app(application), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as caller:
        yield caller


@pytest.fixture
def owner() -> dict[str, str]:
    """Headers of whoever holds the owner token."""
    return {"Authorization": f"Bearer {OWNER_TOKEN}"}
