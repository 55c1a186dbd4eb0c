"""Whose address a request is taken to come from, on a real socket."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from memory_server.api.connections import served
from memory_server.api.nearness import is_near
from memory_server.api.paths import PlainPaths


class Watching:
    """An application that answers with the caller's address, and notes who is near."""

    def __init__(self) -> None:
        self.near: asyncio.Queue[bool] = asyncio.Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.near.put_nowait(is_near(HTTPConnection(scope)))
        client = Request(scope).client
        answer: Response = JSONResponse(client and client.host)
        await answer(scope, receive, send)


@asynccontextmanager
async def listening(app: Watching, proxies: Sequence[str] = ()) -> AsyncIterator[tuple[str, int]]:
    server = uvicorn.Server(served(PlainPaths(app), trusted_proxies=proxies))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        await server.startup(sockets=[listener])
        yield listener.getsockname()
        server.force_exit = True
        await server.shutdown(sockets=[listener])


async def seen_from(proxies: Sequence[str] = (), **headers: str) -> str:
    async with (
        listening(Watching(), proxies) as (host, port),
        httpx.AsyncClient(base_url=f"http://{host}:{port}", trust_env=False) as client,
    ):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return str((await client.get("/", headers=named)).json())


async def test_nobody_chooses_the_address_they_call_from() -> None:
    assert await seen_from(x_forwarded_for="10.1.2.3") == "127.0.0.1"


async def test_a_trusted_proxy_says_whom_it_passes_on() -> None:
    chain = "127.0.0.1, 198.51.100.7"

    assert await seen_from(["127.0.0.1/32"], x_forwarded_for=chain) == "198.51.100.7"


async def test_another_proxy_is_not_believed() -> None:
    assert await seen_from(["10.0.0.0/8"], x_forwarded_for="198.51.100.7") == "127.0.0.1"


async def test_a_request_that_was_broken_off_before_it_was_looked_at_is_nobody_near() -> None:
    app = Watching()
    async with listening(app) as address:
        # Nothing is awaited in between: the server finds the connection when it is broken off.
        with socket.create_connection(address) as broken_off:
            broken_off.sendall(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n")
            broken_off.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        async with asyncio.timeout(180):
            assert not await app.near.get()


async def test_an_ordinary_request_from_here_is_near() -> None:
    app = Watching()
    async with listening(app) as (host, port), httpx.AsyncClient(trust_env=False) as client:
        await client.get(f"http://{host}:{port}/")

    assert app.near.get_nowait()


async def test_a_head_is_answered_without_its_body_and_the_connection_lives_on() -> None:
    head, get = (b"%s / HTTP/1.1\r\nhost: localhost\r\n" % method for method in (b"HEAD", b"GET"))
    async with listening(Watching()) as address, asyncio.timeout(180):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(head + b"\r\n")
        first = await reader.readuntil(b"\r\n\r\n")
        writer.write(get + b"connection: close\r\n\r\n")
        second = await reader.read()
        writer.close()

    assert first.startswith(b"HTTP/1.1 200")
    assert b"content-length: 11" in first
    assert second.startswith(b"HTTP/1.1 200")
