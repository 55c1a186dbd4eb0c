"""Requests and their failures: retries, and the error envelope turned into exceptions again."""

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from memory_server.errors import MemoryServerError

ATTEMPTS = 3
BASE_DELAY = 0.2  # seconds, doubled with each attempt
MAX_DELAY = 5.0  # seconds, however long the server asks to wait
TEMPORARY = frozenset({502, 503, 504})
CONNECT_TIMEOUT = 5.0  # seconds


class ServerUnreachable(ConnectionError):
    """The memory server does not answer."""

    def __init__(self, url: str) -> None:
        super().__init__(f"The memory server does not answer at {url}")
        self.url = url


class ServerTimeout(TimeoutError):
    """The memory server took too long to answer."""

    def __init__(self, url: str) -> None:
        super().__init__(f"The memory server at {url} took too long to answer")
        self.url = url


def _classes(root: type[MemoryServerError]) -> dict[str, type[MemoryServerError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found |= _classes(child)
    return found


CLASSES: Mapping[str, type[MemoryServerError]] = _classes(MemoryServerError)
"""The error class of each public code."""


def error_from(status: int, body: bytes) -> MemoryServerError:
    """Return the error an answer reports; an unknown code or form is a `MemoryServerError`."""
    try:
        envelope = json.loads(body)
    except ValueError:
        envelope = None
    if not isinstance(envelope, dict):
        said = " ".join(body.decode("utf-8", "replace").split())[:200]
        return MemoryServerError(f"HTTP {status}: {said}".rstrip(": "), status=status)
    code = envelope.get("code")
    kind = CLASSES.get(code, MemoryServerError) if isinstance(code, str) else MemoryServerError
    details = {
        name: envelope[name]
        for name in ("code", "request_id", "errors", "problems")
        if envelope.get(name)
    }
    return kind(_reason(envelope) or f"HTTP {status}", status=status, **details)


def _reason(envelope: Mapping[str, Any]) -> str | None:
    """Return the first text that explains; OAuth's `error` is a word, explained beside it."""
    for name in ("error_description", "error", "message", "detail"):
        text = envelope.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return None


def is_loopback(url: str) -> bool:
    """Tell whether the address is this machine, which no proxy may stand before."""
    host = httpx.URL(url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """Sends requests to one server. Only calls said to be idempotent are ever sent twice."""

    base_url: str
    http: httpx.AsyncClient = field(repr=False)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def call(
        self, method: str, path: str, *, idempotent: bool | None = None, **options: Any
    ) -> dict[str, Any]:
        """Return the JSON object of the answer; raise the server's error, or that there is none."""
        response = await self.send(method, path, idempotent=idempotent, **options)
        return checked(response, path)

    async def send(
        self, method: str, path: str, *, idempotent: bool | None = None, **options: Any
    ) -> httpx.Response:
        """Return the answer, whatever its status, with an idempotent call tried three times."""
        repeatable = method == "GET" if idempotent is None else idempotent
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS or not repeatable
            try:
                response = await self.http.request(method, path, **options)
            except httpx.TransportError as error:
                if last:
                    raise self._translated(error) from error
                await self.sleep(_delay(attempt, None))
                continue
            if last or response.status_code not in TEMPORARY:
                return response
            await self.sleep(_delay(attempt, response.headers.get("retry-after")))
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def stream(
        self, path: str, *, method: str = "POST", **options: Any
    ) -> AsyncIterator[httpx.Response]:
        """Open an answer that comes in pieces; an error status is raised at once."""
        try:
            async with self.http.stream(method, path, **options) as response:
                if response.is_error:
                    raise error_from(response.status_code, await response.aread())
                yield response
        except httpx.TransportError as error:
            raise self._translated(error) from error

    def _translated(self, error: httpx.TransportError) -> OSError:
        waited = isinstance(error, httpx.TimeoutException)
        if waited and not isinstance(error, httpx.ConnectTimeout):
            return ServerTimeout(self.base_url)
        return ServerUnreachable(self.base_url)


def _delay(attempt: int, asked: str | None) -> float:
    wanted = float(asked) if asked and asked.isdecimal() else BASE_DELAY * 2 ** (attempt - 1)
    return min(wanted, MAX_DELAY)


def checked(response: httpx.Response, path: str) -> dict[str, Any]:
    """Return the JSON object of an answer, empty for 204, or raise the error it reports."""
    if response.is_error:
        raise error_from(response.status_code, response.content)
    if not response.content:
        return {}
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise MemoryServerError(
            f"{path}: expected a JSON object, got HTTP {response.status_code} with something else",
            status=response.status_code,
        )
    return body


def having(answer: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the answer if it has what it must have."""
    missing = [key for key in keys if key not in answer]
    if missing:
        raise MemoryServerError(f"The server's answer has no {', '.join(missing)}")
    return answer


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are given, in the spelling of query strings and bodies."""
    return {name: value for name, value in values.items() if value is not None}


def answered(answer: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the answer if it has what it must have."""
    missing = [key for key in keys if key not in answer]
    if missing:
        raise MemoryServerError(f"The server's answer has no {', '.join(missing)}")
    return answer


def data_of(lines: list[str]) -> str | None:
    """Return the data of one server-sent event, or None if it carries none."""
    values = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
    return "\n".join(values) if values else None
