"""A server on a real socket, in a thread of its own, and the official SDK to talk to it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from agent_engine_sdk_memory import Memory, MemoryRequestContext

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.providers.system import SystemClock
from tests.homes import Home
from tests.listening import listening
from tests.unit.memory_server.api.application import OWNER_TOKEN, PROJECT, an_application

TICKET_TAGS = [{"name": "plant"}, {"name": "size"}, {"name": "place.city"}]


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    application: Application


MakeHome = Callable[[], AbstractContextManager[Home]]


@pytest.fixture(autouse=True)
def _home_of_processes(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring the server processes of a test to its home."""
    for name, value in home.environ.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, a_home: MakeHome) -> Iterator[Served]:
    """One server for all wire tests; each test has users and sessions of its own."""
    directory: Path = tmp_path_factory.mktemp("served")
    clock = SystemClock()
    with a_home() as home:
        application = an_application(
            directory,
            clock,
            store=home.store(clock),
            extraction={"enabled": []},
            custom_memory_types=[{"name": "ticket", "collection": "tickets", "tags": TICKET_TAGS}],
        )
        with serving(application) as running:
            yield running


@contextmanager
def serving(application: Application) -> Iterator[Served]:
    """Serve an application from a thread while the context lasts."""
    with listening(create_app(application)) as url:
        yield Served(url, application)


@pytest.fixture(params=["flat", "project"])
def root(served: Served, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """The official SDK, once as a local agent uses it and once as a hosted one does."""
    project = {"project_id": PROJECT, "service_account_token": OWNER_TOKEN}
    with Memory(base_url=served.url, **(project if request.param == "project" else {})) as memory:
        yield memory


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """A user no other test has."""
    return f"ana-{request.node.name}"


@pytest.fixture
def memory(root: Memory, user: str) -> Memory:
    """The SDK bound to that user, in a session of theirs."""
    return root.bind(MemoryRequestContext(user_id=user, session_id=f"session-of-{user}"))


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    """A caller who writes requests by hand."""
    with httpx.Client(base_url=served.url, trust_env=False) as client:
        yield client


@pytest.fixture
def owner(served: Served) -> Iterator[httpx.Client]:
    """A caller who writes requests by hand and holds the owner token."""
    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False) as client:
        yield client
