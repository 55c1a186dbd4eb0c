"""The server as a process: what it says, how it ends."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from agentengine_cli.control import server as control
from memory_server.__main__ import PORT_TAKEN, AnnouncedServer, PortTaken

COMMAND = (sys.executable, "-m", "memory_server", "--port")
TURN = {"session_id": "s", "user_id": "ana", "role": "user", "content": "hello"}


def environment(directory: Path, **more: str) -> dict[str, str]:
    return os.environ | {"AGENTENGINE_DATA_DIR": str(directory / "data")} | more


@contextmanager
def running(directory: Path, **more: str) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    """Start a server on any free port, and yield it with a client of its address."""
    process = subprocess.Popen(  # noqa: S603 our own command
        [*COMMAND, "0"], env=environment(directory, **more), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        said = next(line for line in process.stderr if line.startswith("memory server: "))
        with httpx.Client(base_url=said.split()[-1], trust_env=False) as client:
            yield process, client
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def refused(port: int, directory: Path, *, code: int = 1, **more: str) -> list[str]:
    """Start a server that cannot start, and return the lines it says."""
    done = subprocess.run(  # noqa: S603 our own command
        [*COMMAND, str(port)],
        env=environment(directory, **more),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr.splitlines()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_told_to_stop_ends_in_order_and_knows_its_turns_again(
    tmp_path: Path, number: signal.Signals
) -> None:
    with running(tmp_path) as (process, client):
        assert client.get("/health").status_code == 200
        assert client.post("/api/v1/memory/turns", json=TURN).json()["turn_seq"] == 1
        process.send_signal(number)
        assert process.wait(180) == 0

    with running(tmp_path) as (_, client):
        assert client.post("/api/v1/memory/turns", json=TURN).json()["turn_seq"] == 2


def test_a_port_in_use_is_told_with_its_owner(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        [line] = refused(port, tmp_path, code=PORT_TAKEN)

    assert f"port {port} on 127.0.0.1 is in use by" in line
    assert f"(process {os.getpid()})" in line
    assert "--port" in line


def test_a_port_that_two_programs_hold_goes_to_the_first_that_listens() -> None:
    both = [socket.socket(), socket.socket()]
    for held in both:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", both[0].getsockname()[1] if held is both[1] else 0))
    quicker, ours = both
    quicker.listen()

    with quicker, ours, pytest.raises(PortTaken, match=rf"process {os.getpid()}"):
        asyncio.run(AnnouncedServer(uvicorn.Config(FastAPI(), lifespan="off")).serve([ours]))


def test_command_line_knows_the_code_for_a_port_that_is_taken() -> None:
    assert control.PORT_TAKEN == PORT_TAKEN


def test_a_store_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with running(tmp_path, MONGODB_URI=""):
        [line] = refused(0, tmp_path, MONGODB_URI="")

    assert line.startswith("memory server: ")
    assert "memory.db" in line


def test_every_problem_of_a_configuration_is_told(tmp_path: Path) -> None:
    delivered = tmp_path / "memory.json"
    document: dict[str, Any] = {"voyage": {"dimension": -1}, "log_level": "loud"}
    delivered.write_text(json.dumps(document))

    lines = refused(0, tmp_path, AGENTENGINE_MEMORY_CONFIG=str(delivered))

    assert any("voyage.dimension" in line for line in lines)
    assert any("log_level" in line for line in lines)
    assert not any("Traceback" in line for line in lines)
