"""What a connection may do before there is a request: how it is served, and when it is closed.

The web server waits without end for the head of a request, takes a head of any size, and as many
connections as come; and it keeps an answer for as long as its caller does not read it. Here all
four are bounded.
"""

import asyncio
import json
import uuid
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memory_server.domain.limits import (
    HEAD_SECONDS,
    KEEP_ALIVE_SECONDS,
    MAX_CONNECTIONS,
    MAX_CUSTOM_HEADER_BYTES,
    MAX_CUSTOM_HEADERS,
    MAX_HEADER_BYTES,
    MAX_URL_BYTES,
    MIN_TAKEN_BYTES,
    TAKING_SECONDS,
)

CUSTOM_PREFIX = "x-mdb-agent-engine-custom-"
"""How the names of headers begin that a caller sends to an agent."""
_CUSTOM = CUSTOM_PREFIX.encode()
_MAX_CUSTOM_BYTES = MAX_CUSTOM_HEADERS * MAX_CUSTOM_HEADER_BYTES
_MAX_HEAD_BYTES = MAX_HEADER_BYTES + MAX_URL_BYTES + _MAX_CUSTOM_BYTES

LINGER_SECONDS = 1.0
"""How long a refused caller may go on sending, unread, until the connection is closed."""
GRACE_SECONDS = 5
"""How long open connections may finish after the server was told to stop."""


def served(
    app: ASGIApp,
    *,
    protocol: "type[BoundedConnection] | None" = None,
    trusted_proxies: Sequence[str] = (),
) -> uvicorn.Config:
    """Return how an application is served. Its life is the caller's affair.

    Only a trusted proxy is believed about whose request it passes on: otherwise every program of
    this machine, and whoever is behind a proxy on it, could choose an address.
    """
    return uvicorn.Config(
        app,
        http=protocol or BoundedConnection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
    )


class BoundedConnection(HttpToolsProtocol):
    """A connection whose requests have a head of a bounded size, within a bounded time."""

    head_seconds = HEAD_SECONDS
    taking_seconds = TAKING_SECONDS
    max_connections = MAX_CONNECTIONS

    _head_timer: asyncio.TimerHandle | None = None
    _taking_timer: asyncio.TimerHandle | None = None
    _not_taken = 0
    _head_bytes = 0
    _header_bytes = 0
    _custom_bytes = 0
    _in_head = True
    _refused: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            self._refuse(
                503,
                "OVERLOADED",
                f"the server holds {self.max_connections} connections, which is the most",
                "retry-after: 1\r\n",
            )
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        self._answer_is_taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            # What is read at once may be a head and, behind it, the beginning of a body.
            if self._head_bytes > _MAX_HEAD_BYTES:
                self._refuse_headers()
        if self._is_idle and self._head_timer is None:
            self._await_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        self._answer_is_taken()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        # What is left of an answer would be kept until somebody reads it.
        self.loop.call_later(self.taking_seconds, self.transport.abort)

    def on_message_begin(self) -> None:
        self._in_head = True
        self._header_bytes = self._custom_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count every header, those behind a body in chunks too."""
        if name[: len(_CUSTOM)].lower() == _CUSTOM:
            self._header_bytes += len(name)
            self._custom_bytes += len(value)
        else:
            self._header_bytes += len(name) + len(value)
        if self._header_bytes > MAX_HEADER_BYTES or self._custom_bytes > _MAX_CUSTOM_BYTES:
            self._refuse_headers()
        else:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        self._head_came()
        if self._refused:
            return
        if len(self.url) > MAX_URL_BYTES:
            self._refuse(
                414, "URL_TOO_LONG", f"a path and its query may have {MAX_URL_BYTES} bytes at most"
            )
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._refused:
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if not self._refused:
            self._refuse(400, "INVALID_REQUEST", "this is not HTTP as the server understands it")

    @property
    def _is_idle(self) -> bool:
        """Whether no request is in work, so that what arrives belongs to the head of the next."""
        if self._refused or self.transport.is_closing():
            return False
        # There is no cycle before the first request, whatever its type says.
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def _refuse_headers(self) -> None:
        self._refuse(
            431,
            "HEADERS_TOO_LARGE",
            f"the headers of a request may have {MAX_HEADER_BYTES} bytes at most, and the values "
            f"of those to an agent {_MAX_CUSTOM_BYTES} apart from that",
        )

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.head_seconds, self._head_is_late)

    def _head_came(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self._is_idle:
            self._refuse(
                408,
                "REQUEST_TIMEOUT",
                f"the head of a request has {self.head_seconds:g} seconds to arrive",
            )

    def _await_taking(self) -> None:
        self._answer_is_taken()
        self._not_taken = self.transport.get_write_buffer_size()
        self._taking_timer = self.loop.call_later(self.taking_seconds, self._taking_is_late)

    def _answer_is_taken(self) -> None:
        if self._taking_timer is not None:
            self._taking_timer.cancel()
            self._taking_timer = None

    def _taking_is_late(self) -> None:
        if self._not_taken - self.transport.get_write_buffer_size() < MIN_TAKEN_BYTES:
            self.transport.abort()
        else:
            self._await_taking()

    def _refuse(self, status: int, code: str, message: str, more: str = "") -> None:
        """Answer without the application, and close."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._head_came()
        body = json.dumps(_envelope(code, message)).encode()
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"{more}connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        # It is no connection of the server's any more, and only lingers: if it were closed while
        # the caller still sends, the caller would see a broken connection and not the answer.
        self.connections.discard(self)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def _envelope(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "error": message, "detail": message, "request_id": uuid.uuid4().hex}
