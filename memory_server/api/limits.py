"""The frame around every request: its id, its size, its time."""

import re
import time
import uuid
from collections.abc import MutableMapping
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_server.api.errors import of_memory_server
from memory_server.api.metrics import Metrics
from memory_server.errors import TooLarge

MAX_BODY_BYTES = 2 * 1024 * 1024
"""The largest request body, in bytes."""

CALLER_LEFT = 499
"""The status under which requests are counted whose caller did not wait for an answer."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BODIES = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_METHODS = _BODIES | {"GET", "HEAD", "OPTIONS"}


class RequestFrame:
    """ASGI middleware: names the request, bounds its body, and measures the answer.

    A caller's `X-Request-ID` is kept when it is 1 to 64 plain characters; the answer carries
    the id in the same header. A body that is too large is refused by its announced length, or
    while it arrives, before any of it is parsed.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope["request_id"] = _id_from(headers)
        answer = _Answer(send, scope["request_id"])
        began = time.perf_counter()
        try:
            await self._serve(scope, headers, receive, answer)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            took = time.perf_counter() - began
            self._metrics.observe(method, _route(scope), answer.status, took)

    async def _serve(
        self, scope: Scope, headers: Headers, receive: Receive, answer: "_Answer"
    ) -> None:
        try:
            _check_announced(headers.get("content-length"))
            first = await _read(receive) if scope["method"] in _BODIES else None
        except TooLarge as error:
            await of_memory_server(Request(scope), error)(scope, receive, answer)
            return
        if first is not None and first["type"] == "http.disconnect":
            answer.status = CALLER_LEFT
            return
        await self._app(scope, _Replay(first, receive), answer)


async def _read(receive: Receive) -> Message:
    """Return the whole body as one message, or that the caller has gone.

    Read here and not by the routes, because the framework takes any error while reading for
    a broken body.
    """
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return message
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        _check(size)
        if not message.get("more_body", False):
            return {"type": "http.request", "body": b"".join(pieces), "more_body": False}


class _Replay:
    """Gives one message first, if there is one, then what is received."""

    def __init__(self, first: Message | None, receive: Receive) -> None:
        self._first = first
        self._receive = receive

    async def __call__(self) -> Message:
        first, self._first = self._first, None
        return first if first is not None else await self._receive()


def _check_announced(length: str | None) -> None:
    if length is not None and length.isdecimal():
        _check(int(length))


def _check(size: int) -> None:
    if size > MAX_BODY_BYTES:
        raise TooLarge(
            f"a request body may have {MAX_BODY_BYTES} bytes at most. Nothing was stored"
        )


class _Answer:
    """Sends an answer with the request's id, and remembers its status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 500

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = self._request_id
        await self._send(message)


def _id_from(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _route(scope: Scope) -> str:
    """Return the route's template, so that ids never become label values."""
    if "route" not in scope:
        return "unmatched"
    names = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    return "/".join(names.get(step, step) for step in scope["path"].split("/"))
