"""A local server that speaks the chat-completions protocol and answers what a test tells it."""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

READ, WROTE = 11, 7
"""Tokens that every completion tells of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the server answers to one request."""

    text: str | None = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """The whole body, in place of a completion."""
    breaks_off: bool = False
    """Whether the connection ends in the middle of the answer."""
    hangs: bool = False
    """Whether nothing is answered until the server stops."""
    pieces: int = 3
    """In how many pieces a stream sends the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages of a chat request."""
        messages: Sequence[Mapping[str, Any]] = self.body["messages"]
        return messages


def says(text: str) -> Reply:
    """Answer with this text."""
    return Reply(text=text)


def says_items(*items: object) -> Reply:
    """Answer with these items in the form that extraction asks for."""
    return Reply(text=json.dumps({"memories": items}))


def fails(status: int, *, code: str | None = None, message: str = "no", **headers: str) -> Reply:
    """Answer with an error; header names are given with underscores."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers=named, body=body)


HANGS = Reply(hangs=True)
BREAKS_OFF = Reply(breaks_off=True)
DECLINES = Reply(text=None, refusal="I cannot help with that.")
FILTERED = Reply(text="", finish_reason="content_filter")


class ChatServer:
    """The server: queue replies, then look at what was received.

    When no reply is queued, `default` is sent.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.default = says_items()
        self._replies: deque[Reply] = deque()
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def will(self, *replies: Reply) -> None:
        """Queue what is answered to the next requests."""
        self._replies.extend(replies)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Let hanging requests go and end."""
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take_reply(self, received: Received) -> Reply:
        """Note a request and return what to answer."""
        self.received.append(received)
        reply = self._replies.popleft() if self._replies else self.default
        if reply.hangs:
            self._stopping.wait()
        return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                models = {"object": "list", "data": [{"id": "tiny", "object": "model"}]}
                _send(self, Reply(body=json.dumps(models).encode()), stream=False)

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length) or b"null")
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = chat.take_reply(Received(path=self.path, headers=headers, body=body))
                if not reply.hangs:
                    _send(self, reply, stream=bool(body.get("stream")))

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        return Handler


@contextmanager
def running() -> Iterator[ChatServer]:
    """Run a server for the length of a block."""
    server = ChatServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _send(handler: BaseHTTPRequestHandler, reply: Reply, *, stream: bool) -> None:
    is_stream = stream and reply.body is None
    body = reply.body if reply.body is not None else _stream(reply) if stream else _whole(reply)
    handler.send_response(reply.status)
    handler.send_header("content-type", "text/event-stream" if is_stream else "application/json")
    handler.send_header("content-length", str(len(body)))
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    if reply.breaks_off:
        handler.wfile.write(body[: len(body) // 2])
        handler.close_connection = True
        return
    handler.wfile.write(body)


def _whole(reply: Reply) -> bytes:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    usage = {"prompt_tokens": READ, "completion_tokens": WROTE, "total_tokens": READ + WROTE}
    return json.dumps(_envelope("chat.completion", choice) | {"usage": usage}).encode()


def _stream(reply: Reply) -> bytes:
    text = reply.text or ""
    size = max(1, -(-len(text) // reply.pieces))
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": text[start : start + size]}, None)
        for start in range(0, len(text), size)
    ]
    deltas.append(({}, reply.finish_reason))
    events = [
        _envelope("chat.completion.chunk", {"index": 0, "delta": delta, "finish_reason": reason})
        for delta, reason in deltas
    ]
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _envelope(kind: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "c1", "object": kind, "created": 1, "model": "tiny", "choices": [choice]}
