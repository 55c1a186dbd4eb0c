from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.domain.limits import MAX_BODY_BYTES

TURNS = "/api/v1/memory/turns"
JSON = {"content-type": "application/json"}


async def pieces(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 65536):
        yield b" " * 65536


@pytest.mark.parametrize("path", [TURNS, "/api/v1/memory/semantic"])
async def test_a_body_announced_as_too_large_is_refused_unread(
    client: httpx.AsyncClient, path: str
) -> None:
    headers = JSON | {"content-length": str(MAX_BODY_BYTES + 1)}

    answer = await client.post(path, content=b"{}", headers=headers)

    assert answer.status_code == 413
    assert answer.json()["code"] == "TOO_LARGE"
    assert str(MAX_BODY_BYTES) in answer.json()["error"]


@pytest.mark.parametrize("path", [TURNS, "/api/v1/memory/semantic"])
async def test_a_body_that_grows_too_large_is_refused_while_it_arrives(
    client: httpx.AsyncClient, path: str
) -> None:
    sent = pieces(MAX_BODY_BYTES * 100)

    answer = await client.post(path, content=sent, headers=JSON)

    assert answer.status_code == 413
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert await anext(sent)


async def test_the_largest_body_is_read(client: httpx.AsyncClient) -> None:
    answer = await client.post(TURNS, content=b" " * MAX_BODY_BYTES, headers=JSON)

    assert answer.status_code == 422


@pytest.mark.parametrize("given", ["abc-1.2_3", "A" * 64])
async def test_a_callers_request_id_is_kept(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/health", headers={"x-request-id": given})

    assert answer.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "two words", "A" * 65, "x\x7f"])
async def test_a_strange_request_id_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/health", headers={"x-request-id": given})

    assert answer.headers["x-request-id"] not in ("", given)


async def test_a_caller_who_leaves_amid_a_body_stores_nothing(
    client: httpx.AsyncClient, application: Application
) -> None:
    messages = iter(
        [
            {"type": "http.request", "body": b'{"session_id": "s",', "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    scope = {
        "type": "http",
        "method": "POST",
        "path": TURNS,
        "raw_path": TURNS.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"host", b"localhost")],
        "client": ("127.0.0.1", 1),
    }
    sent = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    await create_app(application)(scope, receive, send)

    assert sent == []
    recorded = await client.post(TURNS, json={"session_id": "s", "role": "user", "content": "x"})
    assert recorded.json()["turn_seq"] == 1


async def test_requests_are_counted_by_route_and_status(client: httpx.AsyncClient) -> None:
    await client.get("/api/v1/memory/semantic/one")
    await client.get("/api/v1/memory/semantic/two")
    await client.get("/secret-path")

    counted = (await client.get("/metrics")).text

    labels = 'method="GET",route="/api/v1/memory/semantic/{memory_id}",status="404"'
    assert f"memory_server_requests_total{{{labels}}} 2.0" in counted
    assert 'route="unmatched",status="404"' in counted
    assert "secret-path" not in counted


async def test_jobs_are_counted_by_state(client: httpx.AsyncClient) -> None:
    counted = (await client.get("/metrics")).text

    assert 'memory_server_jobs{state="queued"} 0.0' in counted
