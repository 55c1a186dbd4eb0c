"""Who is let in without a token."""

import socket
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection

from memory_server.api.nearness import PASSED_ON, is_near
from memory_server.app import create_app
from memory_server.application import Application

ROUTE = "/api/v1/memory/semantic"


def a_connection(
    *hosts: str, client: str | None = "127.0.0.1", version: str = "1.1", **headers: str
) -> HTTPConnection:
    named = [(b"host", host.encode("latin-1")) for host in hosts or ("localhost",)]
    more = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return HTTPConnection(
        {
            "type": "http",
            "http_version": version,
            "client": None if client is None else (client, 1),
            "headers": named + more,
        }
    )


@pytest.mark.parametrize("client", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"])
def test_a_caller_from_a_loopback_address_is_near(client: str) -> None:
    assert is_near(a_connection(client=client))


@pytest.mark.parametrize("client", ["192.168.1.5", "2001:db8::1", "::ffff:10.0.0.1", "", "a-file"])
def test_a_caller_from_another_address_is_not(client: str) -> None:
    assert not is_near(a_connection(client=client))


def test_a_caller_without_an_address_is_not_near() -> None:
    assert not is_near(a_connection(client=None))


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8080",
        "localhost.",
        "app.localhost:3000",
        "127.0.0.1:8080",
        "[::1]:8080",
        "[::ffff:127.0.0.1]",
        socket.gethostname(),
    ],
)
def test_a_request_to_this_machine_is_near(host: str) -> None:
    assert is_near(a_connection(host))


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil",
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "localhostevil",
        "127.0.0.1.evil.example",
        "0.0.0.0:8080",
        "2130706433",
        "0",
        "192.168.1.5",
        "[2001:db8::1]",
        "2001:db8::1",
        "[::1]evil",
        "[evil]",
        "[localhost]",
        "localhost:evil",
        "localhost:8080:evil",
        "evil@localhost",
        "localhost, evil",
        "evil\xa7localhost",
    ],
)
def test_a_request_to_anything_else_is_not(host: str) -> None:
    assert not is_near(a_connection(host))


def test_a_request_to_two_names_is_not_near() -> None:
    assert not is_near(a_connection("localhost", "evil.example"))
    assert not is_near(a_connection("localhost", "localhost"))


@pytest.mark.parametrize(
    "header", sorted(PASSED_ON | {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"})
)
def test_what_a_proxy_of_this_machine_passes_on_is_not_near(header: str) -> None:
    assert not is_near(a_connection(**{header: "127.0.0.1"}))


def test_a_proxy_that_says_nothing_speaks_http_as_it_was() -> None:
    assert not is_near(a_connection(version="1.0"))


def a_caller(application: Application, client: Any = ("127.0.0.1", 1)) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(application), client=client)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


async def test_who_is_not_near_needs_a_token(
    application: Application, owner: dict[str, str]
) -> None:
    async with a_caller(application, ("192.168.1.5", 1)) as caller:
        refused = await caller.get(ROUTE)
        answered = await caller.get(ROUTE, headers=owner)

    assert (refused.status_code, answered.status_code) == (401, 200)


async def test_a_caller_behind_a_proxy_needs_a_token(
    application: Application, owner: dict[str, str]
) -> None:
    forwarded = {"X-Forwarded-For": "127.0.0.1"}
    async with a_caller(application) as caller:
        refused = await caller.get(ROUTE, headers=forwarded)
        answered = await caller.get(ROUTE, headers=owner | forwarded)

    assert (refused.status_code, answered.status_code) == (401, 200)


async def test_where_there_is_a_proxy_everybody_needs_a_token(
    application: Application, owner: dict[str, str]
) -> None:
    settings = replace(application.settings, trusted_proxies=("127.0.0.1/32",))
    async with a_caller(replace(application, settings=settings)) as caller:
        refused = await caller.get(ROUTE)
        answered = await caller.get(ROUTE, headers=owner)

    assert (refused.status_code, answered.status_code) == (401, 200)


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Host", "X-Agent-Engine-Execution-Id", "X-Agentic-Agent-Id"],
)
async def test_who_calls_is_said_once(
    client: httpx.AsyncClient, owner: dict[str, str], name: str
) -> None:
    said = owner["Authorization"] if name == "Authorization" else "localhost"

    answer = await client.get(ROUTE, headers=[*owner.items(), (name, said), (name, said)])

    assert answer.status_code == 400
    assert name.lower() in answer.json()["error"]
