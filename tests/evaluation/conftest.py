"""A server in this process, with a worker that works and models that need no file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluation.workspace import Workspace
from memory_server.app import create_app
from memory_server.client import MemoryServerClient
from memory_server.providers.system import SystemClock
from tests.evaluation.watching import Remembering
from tests.unit.memory_server.api.application import OWNER_TOKEN, PROJECT, an_application


@asynccontextmanager
async def serving(tmp_path: Path, **memory: Any) -> AsyncIterator[MemoryServerClient]:
    """A client of a server that extracts memories, as its owner; `memory` configures it."""
    home = tmp_path / "home"
    home.mkdir()
    app = create_app(an_application(home, SystemClock(), **memory))
    async with (
        app.router.lifespan_context(app),
        MemoryServerClient(
            "http://localhost",
            project_id=PROJECT,
            token=OWNER_TOKEN,
            transport=httpx.ASGITransport(app),
        ) as client,
    ):
        yield client


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[MemoryServerClient]:
    """A client of a server that extracts memories by rules."""
    async with serving(tmp_path) as client:
        yield client


@pytest.fixture
def watcher() -> Remembering:
    return Remembering()


@pytest.fixture
def workspace(tmp_path: Path, watcher: Remembering) -> Workspace:
    return Workspace(tmp_path / "evaluation", told=watcher.note)
