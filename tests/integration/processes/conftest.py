"""Real server processes that share a database."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.mongo import a_database
from tests.processes import ServerProcess, running

TURNS, ADMIN = "/api/v1/memory/turns", "/api/v1/admin"

Start = Callable[..., ServerProcess]


@pytest.fixture
def database(mongodb: str) -> Iterator[str]:
    with a_database(mongodb) as name:
        yield name


@pytest.fixture
def start(tmp_path: Path, mongodb: str, database: str) -> Iterator[Start]:
    """Start servers on one database, with one owner token."""
    token = tmp_path / "owner-token"
    token.write_text("the-owner-token-of-all-servers")
    shared = {
        "MONGODB_URI": mongodb,
        "MONGOMEM_DB_NAME": database,
        "PROJECT_ID": "shop",
        "AGENTENGINE_OWNER_TOKEN_FILE": str(token),
    }
    with ExitStack() as servers:

        def started(name: str, *options: str, **environ: str) -> ServerProcess:
            given = {**shared, **environ}
            return servers.enter_context(running(tmp_path / name, *options, **given))

        yield started


def is_ready(server: ServerProcess) -> bool:
    return bool(server.ready()["status"] == "ready")
