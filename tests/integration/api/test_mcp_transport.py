"""The protocol's library over a real socket, with tools that do what the test says."""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from memory_server.api.connections import served
from memory_server.api.mcp.outcomes import Outcome
from memory_server.api.mcp.tools import ToolName
from memory_server.api.mcp.transport import Call, serve

TURN = {"user_id": "ana", "session_id": "s", "role": "user", "content": "hello"}


@asynccontextmanager
async def connected(call: Call) -> AsyncIterator[Client]:
    """Serve these tools, and yield a client of them."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await serve(call, version="1", scope=scope, receive=receive, send=send)

    server = uvicorn.Server(served(app))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        await server.startup(sockets=[listener])
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        async with (
            httpx2.AsyncClient(trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            yield client
        server.force_exit = True
        await server.shutdown(sockets=[listener])


async def test_work_is_cancelled_when_its_caller_goes_away() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang(_name: ToolName, _arguments: Mapping[str, Any]) -> Outcome:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with connected(hang) as client, asyncio.timeout(180):
        calling = asyncio.create_task(client.call_tool("record_turn", TURN))
        await begun.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        await ended.wait()


async def test_a_slow_call_holds_up_no_quick_one() -> None:
    slow = asyncio.Event()

    async def wait_for_search(name: ToolName, _arguments: Mapping[str, Any]) -> Outcome:
        if name is ToolName.SEARCH_MEMORIES:
            slow.set()
        await slow.wait()
        return Outcome(document={"code": "X"}, texts=["X"], failed=True)

    async with connected(wait_for_search) as client, asyncio.timeout(180):
        first = asyncio.create_task(client.call_tool("record_turn", TURN))
        second = await client.call_tool("search_memories", {"user_id": "ana", "query": "x"})
        assert second.is_error
        assert (await first).is_error


@pytest.mark.parametrize("arguments", [{"deep": [[]] * 100}, {"text": "Ω\u0000\U0001f600"}])
async def test_arguments_arrive_as_they_were_sent(arguments: dict[str, Any]) -> None:
    seen: list[Mapping[str, Any]] = []

    async def keep(_name: ToolName, given: Mapping[str, Any]) -> Outcome:
        seen.append(given)
        return Outcome(document={}, texts=[], failed=True)

    async with connected(keep) as client:
        await client.call_tool("record_turn", arguments)

    assert seen == [arguments]
