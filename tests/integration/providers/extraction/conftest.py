"""The chat server for each test, and a server that it extracts for."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from tests.chat_server import ChatServer, running
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.integration.providers.extraction.hosted import OWNER, HostedModels
from tests.unit.memory_server.api.application import an_application
from tests.unit.memory_server.services.conftest import a_turn


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    with running() as server:
        yield server


@pytest.fixture
async def application(
    tmp_path: Path, clock: ManualClock, chat_server: ChatServer
) -> AsyncIterator[Application]:
    """A server whose facts that model extracts."""
    joined = an_application(
        tmp_path,
        clock,
        HostedModels(),
        extraction_llm={"provider": "openai", "model": "tiny", "base_url": chat_server.url},
        extraction={"enabled": ["semantic"], "budget": {"calls_per_hour": 1000}},
    )
    await joined.store.open()
    await joined.recording.record(a_scope(), a_turn("I always fly out of Boston."))
    await joined.promotion.flush("shop")
    yield joined
    await joined.close()


@pytest.fixture
async def caller(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(application))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=OWNER
    ) as client:
        yield client
