"""The frame around every request: its id, its size, its place, its time."""

import asyncio
import re
import time
import uuid
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import from_json
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_server.api.admission import Admission
from memory_server.api.asking import asking_of, most_bytes
from memory_server.api.errors import of_invalid, of_memory_server
from memory_server.api.metrics import Metrics
from memory_server.domain.limits import (
    BODY_SECONDS,
    MAX_HELD_BYTES,
    MAX_JSON_DEPTH,
    REQUEST_SECONDS,
)
from memory_server.errors import (
    BodyTooSlow,
    DeadlineExceeded,
    InvalidRequest,
    MemoryServerError,
    Overloaded,
    TooLarge,
)
from memory_server.services.stages import listening

CALLER_LEFT = 499
"""The status under which requests are counted whose caller did not wait for an answer."""

ALWAYS_ANSWERED = "/health"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BODIES = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_METHODS = _BODIES | {"GET", "HEAD", "OPTIONS"}


class RequestFrame:
    """ASGI middleware: names the request, bounds it, gives it a place, and measures the answer.

    A caller's `X-Request-ID` is kept when it is 1 to 64 plain characters; the answer carries
    the id in the same header. A body that is too large is refused by its announced length, or
    while it arrives; one that is not JSON, or nested too deeply, before a route sees it.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        admission: Admission,
        body_seconds: float = BODY_SECONDS,
        request_seconds: float = REQUEST_SECONDS,
        held_bytes: int = MAX_HELD_BYTES,
    ) -> None:
        self._app = app
        self._bodies = _Bodies(held_bytes)
        self._metrics = metrics
        self._admission = admission
        self._body_seconds = body_seconds
        self._request_seconds = request_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope["request_id"] = _id_from(headers)
        answer = _Answer(send, scope["request_id"])
        began = time.perf_counter()
        try:
            with listening(self._metrics.observe_stage):
                await self._serve(scope, headers, receive, answer)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            took = time.perf_counter() - began
            self._metrics.observe(method, _route(scope), answer.status, took)

    async def _serve(
        self, scope: Scope, headers: Headers, receive: Receive, answer: "_Answer"
    ) -> None:
        try:
            _check_announced(headers.get("content-length"), most_bytes(scope["path"]))
            with self._bodies.holding() as take:
                first = await self._body(scope, receive, take)
                if first is not None and first["type"] == "http.disconnect":
                    answer.status = CALLER_LEFT
                    return
                content = _content(headers, first)
                await self._bounded(scope, headers, content, _Replay(first, receive), answer)
        except MemoryServerError as error:
            answer.closes = isinstance(error, BodyTooSlow)
            await of_memory_server(Request(scope), error)(scope, receive, answer)
        except RequestValidationError as error:
            refusal = await of_invalid(Request(scope), error)
            await refusal(scope, receive, answer)

    async def _body(self, scope: Scope, receive: Receive, take: "_Take") -> Message | None:
        if scope["method"] not in _BODIES:
            return None
        try:
            async with asyncio.timeout(self._body_seconds):
                return await _read(receive, most_bytes(scope["path"]), take)
        except TimeoutError:
            raise BodyTooSlow(
                f"the body of a request has {self._body_seconds:g} seconds to arrive; nothing was "
                "stored"
            ) from None

    async def _bounded(
        self, scope: Scope, headers: Headers, content: Any, receive: Receive, answer: "_Answer"
    ) -> None:
        """Serve within the time a request has; what has begun to be answered has all it needs."""
        if scope["path"] == ALWAYS_ANSWERED:
            await self._app(scope, receive, answer)
            return
        asking = asking_of(scope, headers, content, self._admission)
        seconds = None if asking.takes_long else self._request_seconds
        deadline = answer.deadline = asyncio.timeout(seconds)
        try:
            async with deadline, self._admission.place(asking):
                await self._app(scope, receive, answer)
        except TimeoutError:
            if not deadline.expired():
                raise
        finally:
            answer.deadline = None
        if deadline.expired():  # nothing was sent then, be it that the work heeded it or not
            raise DeadlineExceeded(
                f"not done within {self._request_seconds:g} seconds, so it was given up. A write "
                "may have been stored all the same: send a turn again with its idempotency_key"
            )


_Take = Callable[[int], None]
"""Notes some more bytes of a body; raises `Overloaded` where there is no room for them."""


class _Bodies:
    """The bodies that are held in memory, of whomever: most callers are not known yet."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    @contextmanager
    def holding(self) -> Iterator[_Take]:
        """Give room for one body, until it is answered."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            if self._held + size > self._most:
                raise Overloaded(
                    f"the bodies of open requests may have {self._most} bytes together; nothing "
                    "was stored, try again"
                )
            mine += size
            self._held += size

        try:
            yield take
        finally:
            self._held -= mine


async def _read(receive: Receive, most: int, take: _Take) -> Message:
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
        _check(size, most)
        take(len(pieces[-1]))
        if not message.get("more_body", False):
            return {"type": "http.request", "body": b"".join(pieces), "more_body": False}


def _content(headers: Headers, message: Message | None) -> Any:
    """Return what a JSON body says, None for another one or none; refuse what is not JSON.

    One parser for every route: numbers are finite, texts whole, nesting bounded, and of a key
    that is there twice the last counts.
    """
    body = message["body"] if message is not None else b""
    coding = headers.get("content-encoding", "").strip().lower()
    if body and coding not in ("", "identity"):
        raise InvalidRequest(f"content-encoding: send the body as it is, not as {coding[:20]!r}")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body or not (kind == "application/json" or kind.endswith("+json")):
        return None
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        problem = {"type": "json", "loc": ("body",), "msg": _told(str(error))}
        raise RequestValidationError([problem]) from None


def _told(reason: str) -> str:
    if "recursion" in reason:
        return f"the body is nested more than {MAX_JSON_DEPTH} levels deep"
    # A text that JavaScript cuts by its length may end within a character.
    if "hex escape" in reason:
        return (
            "a text in the body holds half a surrogate pair, as of an emoji that was cut in two: "
            "send whole characters"
        )
    return "the body is not valid JSON"


class _Replay:
    """Gives one message first, if there is one, then what is received."""

    def __init__(self, first: Message | None, receive: Receive) -> None:
        self._first = first
        self._receive = receive

    async def __call__(self) -> Message:
        first, self._first = self._first, None
        return first if first is not None else await self._receive()


def _check_announced(length: str | None, most: int) -> None:
    if length is not None and length.isdecimal():
        _check(int(length), most)


def _check(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(f"a request body may have {most} bytes at most. Nothing was stored")


class _Answer:
    """Sends an answer with the request's id, and remembers its status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 500
        self.closes = False
        """Whether nothing more can be read from this connection."""
        self.deadline: asyncio.Timeout | None = None
        """Until when the answer has to begin."""

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if self.deadline is not None:
            if self.deadline.expired():  # too late: the frame answers instead
                return
            self.deadline.reschedule(None)
            self.deadline = None
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._request_id
            if self.closes:
                headers["Connection"] = "close"
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
