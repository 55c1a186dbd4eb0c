"""The frame's times and places, around an application that does what the test says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from memory_server.api.admission import Admission
from memory_server.api.errors import install
from memory_server.api.limits import RequestFrame
from memory_server.api.metrics import Metrics
from memory_server.domain.limits import MAX_CONCURRENT_OF_CALLER
from tests.clock import ManualClock

Handler = Callable[[Request], Awaitable[Any]]


def framed(handler: Handler, *, rate: float | None = None, **bounds: Any) -> httpx.AsyncClient:
    """Return a client of an application whose only handler is this one, on every path."""
    app = FastAPI()
    app.add_api_route("/{path:path}", handler, methods=["GET", "POST"])
    gate = Admission(clock=ManualClock(), owner_token="owner", writes_a_second=rate)
    app.add_middleware(RequestFrame, metrics=Metrics(), admission=gate, **bounds)
    install(app)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


async def at_once(request: Request) -> Any:
    return {}


async def test_work_that_takes_too_long_is_cancelled_and_told() -> None:
    cancelled = asyncio.Event()

    async def hang(request: Request) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with framed(hang, request_seconds=0.01) as client:
        answer = await client.post("/turns", json={})

    assert (answer.status_code, answer.json()["code"]) == (504, "DEADLINE_EXCEEDED")
    assert "0.01 seconds" in answer.json()["error"]
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert cancelled.is_set()


@pytest.mark.parametrize("path", ["/invoke/stream", "/api/v1/admin/flush"])
async def test_what_takes_its_time_has_it(path: str) -> None:
    async def slow(request: Request) -> Any:
        for _ in range(100):
            await asyncio.sleep(0)
        return {}

    async with framed(slow, request_seconds=0.0) as client:
        assert (await client.post(path)).status_code == 200
        assert (await client.post("/turns")).status_code == 504


async def test_an_answer_that_has_begun_may_take_as_long_as_it_needs() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        await asyncio.sleep(0.05)
        yield b"two"

    async def stream(request: Request) -> Any:
        return StreamingResponse(pieces())

    async with framed(stream, request_seconds=0.02) as client:
        answer = await client.get("/events")

    assert (answer.status_code, answer.text) == (200, "onetwo")


async def test_a_late_answer_is_not_mixed_with_the_one_that_says_so() -> None:
    async def stubborn(request: Request) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return {"late": True}

    async with framed(stubborn, request_seconds=0.01) as client:
        answer = await client.get("/turns")

    assert (answer.status_code, answer.json()["code"]) == (504, "DEADLINE_EXCEEDED")


async def test_a_body_in_another_coding_is_refused_by_name() -> None:
    async with framed(at_once) as client:
        answer = await client.post("/turns", content=b"x", headers={"content-encoding": "gzip"})
        plain = await client.post("/turns", json={}, headers={"content-encoding": "identity"})

    assert (answer.status_code, plain.status_code) == (400, 200)
    assert "content-encoding: send the body as it is, not as 'gzip'" in answer.json()["error"]


async def test_a_body_that_does_not_arrive_in_time_is_given_up() -> None:
    called = []

    async def note(request: Request) -> Any:
        called.append(request)

    async def trickle() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with framed(note, body_seconds=0.01) as client:
        answer = await client.post(
            "/turns", content=trickle(), headers={"content-type": "application/json"}
        )

    assert (answer.status_code, answer.json()["code"]) == (408, "REQUEST_TIMEOUT")
    assert "0.01 seconds" in answer.json()["error"]
    assert answer.headers["connection"] == "close"
    assert called == []


async def test_the_bodies_of_all_callers_together_are_bounded_until_they_are_answered() -> None:
    release, inside = asyncio.Event(), asyncio.Event()

    async def hold(request: Request) -> Any:
        inside.set()
        await release.wait()
        return {}

    async with framed(hold, held_bytes=10) as client:
        held = asyncio.create_task(client.post("/turns", content=b"12345678"))
        await inside.wait()
        refused = await client.post("/turns", content=b"123")
        release.set()
        answers = [await held, await client.post("/turns", content=b"123")]

    assert (refused.status_code, refused.json()["code"]) == (503, "OVERLOADED")
    assert "10 bytes together" in refused.json()["error"]
    assert [one.status_code for one in answers] == [200, 200]


async def test_health_is_answered_when_nothing_else_is() -> None:
    release, full = asyncio.Event(), asyncio.Event()
    working: list[str] = []

    async def hold(request: Request) -> Any:
        if request.url.path == "/health":
            return {}
        working.append(request.url.path)
        if len(working) == MAX_CONCURRENT_OF_CALLER:
            full.set()
        await release.wait()
        return {}

    async with framed(hold) as client:
        bodies = [{"user_id": f"user-{number}"} for number in range(MAX_CONCURRENT_OF_CALLER)]
        flood = [asyncio.create_task(client.post("/turns", json=body)) for body in bodies]
        await full.wait()
        refused = await client.post("/turns", json={"user_id": "bob"})
        health = await client.get("/health")
        release.set()
        answers = await asyncio.gather(*flood)

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert health.status_code == 200
    assert {answer.status_code for answer in answers} == {200}


async def test_writes_beyond_the_rate_are_told_when_to_come_again() -> None:
    async with framed(at_once, rate=0.5) as client:
        answers = [await client.post("/turns", json={"user_id": "ana"}) for _ in range(6)]
        other = await client.post("/turns", json={"user_id": "bob"})
        read = await client.get("/turns?user_id=ana")

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].json()["code"] == "RATE_LIMITED"
    assert "0.5 a second" in answers[-1].json()["error"]
    assert answers[-1].headers["retry-after"] == "2"
    assert (other.status_code, read.status_code) == (200, 200)
