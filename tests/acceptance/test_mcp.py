"""`agentengine mcp`: the official client starts it, as a desktop application does."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from tests.acceptance.conftest import Shell


@asynccontextmanager
async def started(shell: Shell, *arguments: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Start the command, and yield the client that talks to it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "agentengine_cli", "mcp", *arguments],
        cwd=shell.directory,
        env={"HOME": str(shell.home), "PYTHONPATH": shell.search_path},
    )
    async with asyncio.timeout(180), Client(server, mode=mode) as client:
        yield client


def told(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A project whose server runs; each test has sessions of its own."""
    parent = Shell(tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("home"))
    parent.ok("create", "--memory-only", "--name", "Desk")
    shell = Shell(parent.directory / "desk", parent.home)
    shell.ok("memory", "configure", "--yes")
    shell.ok("dev", "up")
    yield shell
    shell.run("dev", "stop")


def turn(session: str, **changes: str) -> dict[str, Any]:
    given = {"user_id": "ana", "session_id": session, "role": "user", "content": "I live in Łódź."}
    return given | changes


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_desktop_client_records_and_recalls_without_any_token(
    running: Shell, mode: str
) -> None:
    async with started(running, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        recorded = told(await client.call_tool("record_turn", turn(mode)))
        query = {"user_id": "ana", "session_id": mode, "query": "where does she live?"}
        context = told(await client.call_tool("build_context", query))
        found = told(await client.call_tool("search_memories", {"user_id": "ana", "query": "x"}))

    assert tools == ["record_turn", "build_context", "search_memories"]
    assert "Łódź" in context["context"]
    assert {"id": recorded["id"], "source": "stm"} in context["memories"]
    assert found["memories"] == []


async def test_a_user_and_a_session_can_be_given_once_for_all_calls(running: Shell) -> None:
    async with started(running, "--user-id", "ana", "--session", "desk") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        recorded = told(await client.call_tool("record_turn", {"role": "user", "content": "hi"}))
        other = {"role": "user", "content": "hi", "session_id": "other"}
        elsewhere = told(await client.call_tool("record_turn", other))

    assert tools["record_turn"].input_schema["required"] == ["role", "content"]
    assert tools["search_memories"].input_schema["properties"]["user_id"]["default"] == "ana"
    assert (recorded["session_id"], elsewhere["session_id"]) == ("desk", "other")


async def test_errors_and_many_calls_at_once_pass_the_bridge(running: Shell) -> None:
    async with started(running) as client:
        refused = await client.call_tool("record_turn", turn("many", role="nobody"))
        with pytest.raises(MCPError, match="there is no tool 'forget'"):
            await client.call_tool("forget", {})
        calls = [client.call_tool("record_turn", turn("many")) for _ in range(10)]
        numbers = [told(result)["turn_seq"] for result in await asyncio.gather(*calls)]

    assert refused.is_error
    assert "VALIDATION_ERROR: role" in getattr(refused.content[0], "text", "")
    assert sorted(numbers) == list(range(1, 11))


async def test_a_server_that_was_restarted_is_found_again(running: Shell) -> None:
    async with started(running) as client:
        assert told(await client.call_tool("record_turn", turn("long")))["turn_seq"] == 1
        await asyncio.to_thread(running.ok, "dev", "stop")
        stopped = await client.call_tool("record_turn", turn("long"))
        await asyncio.to_thread(running.ok, "dev", "up")
        again = told(await client.call_tool("record_turn", turn("long")))

    assert stopped.is_error
    assert "does not answer" in getattr(stopped.content[0], "text", "")
    assert again["turn_seq"] == 2


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (None, 0)]
)
def test_the_bridge_ends_when_it_is_told_to_or_nobody_speaks(
    running: Shell, number: signal.Signals | None, status: int
) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with subprocess.Popen(
        [sys.executable, "-m", "agentengine_cli", "mcp"],
        cwd=running.directory,
        env={"HOME": str(running.home), "PYTHONPATH": running.search_path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as bridge:
        assert bridge.stdin is not None
        assert bridge.stdout is not None
        bridge.stdin.write(json.dumps(asked).encode() + b"\n")
        bridge.stdin.flush()
        bridge.stdout.readline()
        if number is None:
            bridge.stdin.close()
        else:
            bridge.send_signal(number)
        assert bridge.wait(180) == status


def test_without_a_server_the_command_ends_and_says_what_to_run(project: Shell) -> None:
    answer = project.run("mcp")

    assert (answer.code, answer.out) == (1, "")
    assert "is not running" in answer.err
    assert "agentengine dev up" in answer.err


def test_nothing_but_the_protocol_is_on_standard_output(running: Shell) -> None:
    answer = running.run("mcp", "-vv", stdin="not a message\n")

    assert all(line.startswith('{"jsonrpc"') for line in answer.out.splitlines())


def test_what_no_client_would_send_is_told_and_fails(running: Shell) -> None:
    answer = running.run("mcp", stdin="\nnot a message\n" * 9)

    assert answer.code == 1
    assert answer.err.count("Warning: a line of standard input is no JSON-RPC message") == 3
    assert "Error: Standard input held no message" in answer.err


def test_a_line_that_is_no_message_does_not_end_the_others(running: Shell) -> None:
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})

    answer = running.run("mcp", stdin=f"{{\n\n{ping}\n")

    assert (answer.code, json.loads(answer.out)["id"]) == (0, 1)
    assert answer.err.count("is passed over") == 1


def test_nothing_at_all_is_no_failure(running: Shell) -> None:
    assert running.run("mcp", stdin="\n").code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["memory", "status", "--json"]])
def test_other_commands_do_not_load_the_protocol(empty: Shell, arguments: list[str]) -> None:
    program = (
        "import sys; from agentengine_cli.main import main; main(sys.argv[1:]);"
        "sys.exit(99 if {'mcp', 'mcp_types'} & set(sys.modules) else 0)"
    )

    done = subprocess.run(  # noqa: S603 our own program
        [sys.executable, "-c", program, *arguments],
        cwd=empty.directory,
        env={"HOME": str(empty.home), "PYTHONPATH": empty.search_path},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0
