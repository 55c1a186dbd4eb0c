"""A real HTTP server that speaks the embeddings protocol, and misbehaves on demand."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from memory_server.domain.embedding import Purpose
from memory_server.providers.embedding.deterministic import HashingEmbedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer, as it leaves. `hangs` answers never; `breaks` closes the connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    breaks: bool = False


Rule = Callable[[Request], Reply | None]
"""Answers a request in its own way, or leaves it to the next rule."""


class EmbeddingServer:
    """Embeds by hashing; `rules` come first, the earliest that answers wins."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.requests: list[Request] = []
        self.rules: list[Rule] = []
        self.arrived = threading.Event()
        self.released = threading.Event()
        self.address = ""

    def reply(self, request: Request) -> Reply:
        for rule in self.rules:
            answer = rule(request)
            if answer is not None:
                return answer
        return vectors(self.hashed(request.texts))

    def hashed(self, texts: list[str]) -> list[list[float]]:
        return [hashed(text, self.dimension) for text in texts]


def hashed(text: str, dimension: int) -> list[float]:
    """Return a vector of some length for any text, as JSON numbers."""
    coroutine = HashingEmbedder(dimension=dimension).embed([text], purpose=Purpose.DOCUMENT)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return [3.0 * float(number) for number in done.value.vectors[0]]
    raise AssertionError("hashing awaits nothing")


def vectors(embeddings: list[list[float]], *, backwards: bool = False) -> Reply:
    """Return the reply that carries these embeddings."""
    rows = [
        {"object": "embedding", "index": index, "embedding": embedding}
        for index, embedding in enumerate(embeddings)
    ]
    return document({"object": "list", "data": rows[::-1] if backwards else rows})


def document(content: Any, *, status: int = 200, **headers: str) -> Reply:
    """Return a reply of JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=json.dumps(content).encode(), headers=named)


@contextmanager
def serving(dimension: int) -> Iterator[EmbeddingServer]:
    """Serve on a free loopback port until the block ends."""
    server = EmbeddingServer(dimension)
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.address = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        thread.join()
        http.server_close()


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one packet, or each would wait for an acknowledgement

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            request = Request(path=self.path, headers=dict(self.headers), body=json.loads(content))
            server.requests.append(request)
            server.arrived.set()
            self._send(server.reply(request))

        def _send(self, reply: Reply) -> None:
            if reply.hangs:
                server.released.wait()
            if reply.hangs or reply.breaks:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the tests' output clean."""

    return Handler
