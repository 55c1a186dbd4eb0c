"""Paths as their callers mean them."""

from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ENCODED_SLASH = "%2F"


class PlainPaths:
    """ASGI middleware: an encoded slash stays within its segment, and HEAD is GET without a body.

    Servers decode a path before it is routed. A slash that was encoded would part an id in two
    then, and an id could name another route; so it stays encoded, and is no id of anything here.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw = scope.get("raw_path") or b""
            if _ENCODED_SLASH.encode() in raw.upper():
                scope["path"] = _by_segment(raw.decode("latin-1").partition("?")[0])
            if scope["method"] == "HEAD":
                # In a scope of its own: the server has to go on knowing that no body will come.
                scope = {**scope, "method": "GET"}
                send = _Bodiless(send)
        await self._app(scope, receive, send)


def _by_segment(raw: str) -> str:
    return "/".join(unquote(step).replace("/", _ENCODED_SLASH) for step in raw.split("/"))


class _Bodiless:
    """Sends answers without their bodies."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)
