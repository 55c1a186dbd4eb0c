"""The server's own protocol on a real socket: an application that answers everything."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from memory_server.api.connections import BoundedConnection, served
from memory_server.domain.limits import (
    MAX_CUSTOM_HEADER_BYTES,
    MAX_CUSTOM_HEADERS,
    MAX_HEADER_BYTES,
    MAX_URL_BYTES,
)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the number of bytes that came; for an address, with as many bytes as it says."""
    size = 0
    while (message := await receive())["type"] == "http.request":
        size += len(message["body"])
        if not message["more_body"]:
            break
    wanted = scope["path"].removeprefix("/")
    body = b"x" * int(wanted) if wanted.isdecimal() else str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Impatient(BoundedConnection):
    head_seconds = 0.05


class Crowded(BoundedConnection):
    max_connections = 2


class Watched(BoundedConnection):
    """Tells when a connection has ended."""

    taking_seconds = 0.05
    ended: asyncio.Event

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.ended.set()


class Served:
    """A running server, and how to talk to it byte by byte."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port)

    async def said_to(self, *sent: bytes) -> bytes:
        """Send these pieces, and return all that the server says until it closes."""
        reader, writer = await self.connect()
        for piece in sent:
            writer.write(piece)
            await asyncio.sleep(0)
        try:
            async with asyncio.timeout(180):
                return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def running(protocol: type[BoundedConnection]) -> AsyncIterator[Served]:
    server = uvicorn.Server(served(echo, protocol=protocol))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        await server.startup(sockets=[listener])
        yield Served(listener.getsockname()[1])
        server.force_exit = True
        await server.shutdown(sockets=[listener])


def refusal(said: bytes) -> tuple[int, dict[str, Any]]:
    """Return the status and the envelope of a refusal, which ends the connection."""
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"connection: close" in head
    document = json.loads(body)
    assert document["error"] == document["detail"]
    assert document["request_id"]
    return int(head.split()[1]), document


LARGEST_OF_AN_AGENT = b"X-Mdb-Agent-Engine-Custom-A: " + b"a" * MAX_CUSTOM_HEADER_BYTES + b"\r\n"
REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"


async def test_an_ordinary_request_is_served() -> None:
    async with running(BoundedConnection) as server:
        said = await server.said_to(REQUEST, b"content-length: 3\r\n\r\n", b"abc")

    assert said.startswith(b"HTTP/1.1 200")
    assert said.endswith(b"\r\n\r\n3")


async def test_a_large_body_behind_a_small_head_is_served() -> None:
    body = b"x" * (MAX_HEADER_BYTES * 4)
    async with running(BoundedConnection) as server:
        said = await server.said_to(
            REQUEST + b"content-length: " + str(len(body)).encode() + b"\r\n\r\n" + body
        )

    assert said.endswith(str(len(body)).encode())


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param((), id="nothing"),
        pytest.param((b"GET / HT",), id="half a line"),
        pytest.param((REQUEST, b"x-a: "), id="half a header"),
        pytest.param((b"\r\n", b"\r\n"), id="empty lines"),
    ],
)
async def test_a_head_that_does_not_arrive_in_time_is_given_up(sent: tuple[bytes, ...]) -> None:
    async with running(Impatient) as server:
        status, document = refusal(await server.said_to(*sent))

    assert (status, document["code"]) == (408, "REQUEST_TIMEOUT")
    assert "0.05 seconds" in document["error"]


async def test_the_head_of_a_later_request_has_a_time_too() -> None:
    async with running(Impatient) as server:
        reader, writer = await server.connect()
        writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        await reader.readexactly(1)
        writer.write(b"GET / HT")
        async with asyncio.timeout(180):
            status, _ = refusal(await reader.read())
        writer.close()

    assert status == 408


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(b"x-a: " + b"a" * (MAX_HEADER_BYTES + 1) + b"\r\n\r\n", id="one"),
        pytest.param(b"x-a: 12345678\r\n" * (MAX_HEADER_BYTES // 8) + b"\r\n", id="many"),
        pytest.param(LARGEST_OF_AN_AGENT * 51 + b"\r\n", id="more to an agent than it may have"),
        pytest.param(b"x-a: " + b"a" * (16 * MAX_HEADER_BYTES), id="without an end"),
        pytest.param(
            b"transfer-encoding: chunked\r\n\r\n0\r\nx-a: "
            + b"a" * (MAX_HEADER_BYTES + 1)
            + b"\r\n\r\n",
            id="behind the body",
        ),
    ],
)
async def test_headers_that_are_too_large_are_refused_with_the_limit(headers: bytes) -> None:
    async with running(BoundedConnection) as server:
        status, document = refusal(await server.said_to(REQUEST + headers))

    assert (status, document["code"]) == (431, "HEADERS_TOO_LARGE")
    assert str(MAX_HEADER_BYTES) in document["error"]


async def test_every_header_that_an_agent_may_have_fits_in() -> None:
    rest = b"x-a: " + b"a" * (MAX_HEADER_BYTES - 4096) + b"\r\n\r\n"
    async with running(BoundedConnection) as server:
        said = await server.said_to(REQUEST + LARGEST_OF_AN_AGENT * MAX_CUSTOM_HEADERS + rest)

    assert said.startswith(b"HTTP/1.1 200")


async def test_an_address_that_is_too_long_is_refused_with_the_limit() -> None:
    address = b"/" + b"a" * MAX_URL_BYTES
    async with running(BoundedConnection) as server:
        said = await server.said_to(b"GET " + address + b" HTTP/1.1\r\nhost: localhost\r\n\r\n")

    status, document = refusal(said)
    assert (status, document["code"]) == (414, "URL_TOO_LONG")
    assert str(MAX_URL_BYTES) in document["error"]


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x00\xa5", b"HELLO\r\n\r\n", b"GET /\xff HTTP/1.1"])
async def test_what_is_not_http_is_told_so(sent: bytes) -> None:
    async with running(Impatient) as server:
        status, _ = refusal(await server.said_to(sent + b"\r\n\r\n"))

    assert status == 400


async def test_more_connections_than_the_server_holds_are_told_to_come_again() -> None:
    async with running(Crowded) as server:
        held = [await server.connect(), await server.connect()]
        for reader, writer in held:
            writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
        said = await server.said_to()
        for _, writer in held:
            writer.close()

    status, document = refusal(said)
    assert (status, document["code"]) == (503, "OVERLOADED")
    assert b"retry-after: 1" in said


async def test_an_upgrade_to_web_sockets_is_not_offered() -> None:
    upgrade = b"upgrade: websocket\r\nsec-websocket-key: AAAA\r\nsec-websocket-version: 13\r\n\r\n"
    request = REQUEST.replace(b"close", b"upgrade")
    async with running(BoundedConnection) as server:
        reader, writer = await server.connect()
        writer.write(request + upgrade)
        said = await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert said.startswith(b"HTTP/1.1 200")


async def test_an_answer_that_nobody_reads_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "ended", asyncio.Event(), raising=False)
    async with running(Watched) as server:
        _, writer = await server.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined] # a socket's has it
        writer.write(b"GET /50000000 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        async with asyncio.timeout(180):
            await Watched.ended.wait()
        writer.close()


async def test_a_large_answer_that_is_read_arrives_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "ended", asyncio.Event(), raising=False)
    monkeypatch.setattr(Watched, "taking_seconds", 2)
    async with running(Watched) as server:
        said = await server.said_to(REQUEST.replace(b"GET /", b"GET /50000000") + b"\r\n")

    assert said.endswith(b"\r\n\r\n" + b"x" * 50_000_000)
