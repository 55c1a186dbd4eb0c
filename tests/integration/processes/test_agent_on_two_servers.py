"""Whichever server a caller reaches: invocations, their streams, and tools over MCP."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.processes.conftest import Start, is_ready
from tests.processes import SECONDS, ServerProcess, until

PROJECT = "/api/v1/projects/shop"
INVOKE = f"{PROJECT}/workspaces/desk"
AGENT = """
import pathlib
import time

def answer(message):
    yield "begun "
    while not pathlib.Path("go-on").exists():
        time.sleep(0.02)
    yield "and done"
"""

Pair = tuple[ServerProcess, ServerProcess]


@pytest.fixture
def servers(start: Start, tmp_path: Path) -> Pair:
    """Two servers, each with the same agent, which goes on when `tmp_path/go-on` is there."""
    (tmp_path / "main.py").write_text(AGENT)
    told = tmp_path / "agent.json"
    agent = {"name": "teller", "directory": str(tmp_path), "entrypoint": "main:answer"}
    told.write_text(json.dumps(agent | {"python": None, "memory": False, "environment": {}}))
    first, second = (start(name, AGENTENGINE_AGENT=str(told)) for name in ("first", "second"))
    first.until(is_ready)
    second.until(is_ready)
    return first, second


@contextmanager
def streaming(server: ServerProcess) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield the frames of an invocation as they come."""
    headers = {"Authorization": f"Bearer {server.token}"}
    message = {"message": "tell", "user_id": "ana"}
    with (
        httpx.Client(timeout=SECONDS, trust_env=False) as client,
        client.stream(
            "POST", f"{server.url}{INVOKE}/invokeStream", json=message, headers=headers
        ) as response,
    ):
        assert response.status_code == 200, response.read()
        yield (json.loads(line[5:]) for line in response.iter_lines() if line.startswith("data:"))


def execution(server: ServerProcess, named: str, *, act: str = "") -> dict[str, Any]:
    """Return what a server tells of an execution."""
    method = "POST" if act else "GET"
    answer = server.ask(method, f"{PROJECT}/executions/{named}{act}?workspace_id=desk")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_an_execution_that_one_server_streams_is_known_to_the_other(
    servers: Pair, tmp_path: Path
) -> None:
    first, second = servers
    with streaming(first) as frames:
        begun = next(frames)
        meanwhile = execution(second, begun["execution_id"])
        (tmp_path / "go-on").touch()
        rest = [*frames]

    assert begun["content"] == "begun "
    assert meanwhile["status"] == "running"
    assert (rest[-2]["content"], rest[-1]["chunk_type"]) == ("and done", "done")
    assert execution(second, begun["execution_id"])["status"] == "completed"


def test_an_execution_of_one_server_is_cancelled_by_the_other(servers: Pair) -> None:
    first, second = servers
    with streaming(first) as frames, ThreadPoolExecutor(1) as reader:
        begun = next(frames)
        rest = reader.submit(lambda: [*frames])
        cancelled = execution(second, begun["execution_id"], act="/cancel")
        told = rest.result(SECONDS)

    assert cancelled["status"] == "cancelled"
    assert told[-1]["chunk_type"] == "error"
    assert execution(first, begun["execution_id"])["status"] == "cancelled"


def test_what_a_killed_server_ran_is_told_as_failed_by_the_other(servers: Pair) -> None:
    first, second = servers
    with streaming(first) as frames:
        begun = next(frames)
        first.process.kill()

        until(lambda: execution(second, begun["execution_id"])["status"] == "failed")

    assert "SERVER_GONE" in json.dumps(execution(second, begun["execution_id"]))


def call(server: ServerProcess, tool: str, **arguments: str) -> str:
    """Call a tool over MCP, as a client without a session does."""
    answer = server.ask(
        "POST",
        f"{PROJECT}/mcp",
        headers={"Accept": "application/json, text/event-stream"},
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        },
    )
    assert answer.status_code == 200, answer.text
    return answer.text


def test_what_a_tool_of_one_server_records_a_tool_of_the_other_finds(servers: Pair) -> None:
    first, second = servers
    spoken = {"user_id": "ana", "session_id": "s1"}
    call(first, "record_turn", role="user", content="My cat is called Leo.", **spoken)

    def told() -> str:
        answer = call(second, "build_context", query="cat", **spoken)
        return answer if "Leo" in answer else ""

    found = until(told)

    assert 'isError":true' not in found
