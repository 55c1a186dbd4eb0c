"""How a real server process stops."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.processes import SECONDS, ServerProcess, running

STOPPED = "server: it was told to stop; ask another one"


def is_ready(server: ServerProcess) -> bool:
    return bool(server.ready()["status"] == "ready")


def say(server: ServerProcess, session: str) -> None:
    turn = {"session_id": session, "role": "user", "content": "I live in Oslo.", "user_id": "ana"}
    assert server.ask("POST", "/api/v1/memory/turns", json=turn).status_code == 201


def test_a_server_told_to_stop_says_so_at_once_and_serves_on_for_its_time(tmp_path: Path) -> None:
    with running(tmp_path, AGENTENGINE_DRAIN_SECONDS="300") as server:
        server.until(is_ready)

        server.signal(signal.SIGTERM)

        document = server.until(lambda one: (seen := one.ready())["blocked_on"] and seen)
        assert (document["status"], document["blocked_on"][0]) == ("blocked", STOPPED)
        assert [one["state"] for one in document["servers"]] == ["stopping"]
        assert server.ask("GET", "/health").status_code == 200
        say(server, "last")
        server.signal(signal.SIGTERM)  # whoever tells it twice does not want to wait
        assert server.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_told_to_stop_leaves_no_job_in_work(
    tmp_path: Path, number: signal.Signals
) -> None:
    with running(tmp_path) as server:
        server.until(is_ready)
        for session in range(20):
            say(server, f"s{session}")
        assert server.ask("POST", "/api/v1/admin/flush").json()["jobs"]

        server.signal(number)

        assert server.ended() == 0
    with sqlite3.connect(tmp_path / "data" / "memory.db") as database:
        states = dict(database.execute("SELECT state, count(*) FROM jobs GROUP BY state"))
    assert "running" not in states
    assert sum(states.values())


def test_a_stopped_server_answers_no_more(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        url = server.url
        server.signal(signal.SIGTERM)
        server.ended()

    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", trust_env=False)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--role", "api"), "AGENTENGINE_ROLE (--role): api leaves"),
        (("--role", "worker"), "AGENTENGINE_ROLE (--role): worker leaves"),
        (("--workers", "2"), "AGENTENGINE_WORKERS (--workers): 2, but a SQLite file"),
        (("--workers", "0"), "expected how many processes share the port"),
    ],
)
def test_what_one_process_alone_cannot_be_is_refused_with_the_reason(
    tmp_path: Path, options: tuple[str, ...], told: str
) -> None:
    with running(tmp_path, *options) as server:
        assert server.ended() == 1
        assert told in "\n".join(server.told)


HANGING = """
import asyncio, contextlib, sys
from memory_server import __main__ as program

program.LAST_SECONDS = 0.5
create = program.create_app


def create_app(*given, **named):
    app = create(*given, **named)
    life = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def hanging(app):
        async with life(app):
            yield
            await asyncio.Event().wait()

    app.router.lifespan_context = hanging
    return app


program.create_app = create_app
sys.argv = ["memory-server", "--port", "0"]
program.entry()
"""


def test_a_server_that_waits_for_ever_while_it_stops_is_ended_and_says_where(
    tmp_path: Path,
) -> None:
    environ = {"PATH": os.environ["PATH"], "AGENTENGINE_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(  # noqa: S603 our own words
        [sys.executable, "-c", HANGING], env=environ, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        assert any(line.startswith("memory server: http") for line in server.stderr)

        server.send_signal(signal.SIGTERM)

        assert "Timeout" in server.stderr.read()
        assert server.wait(SECONDS) == 1
