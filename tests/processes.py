"""Server processes that tests start, watch and end."""

import os
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

SECONDS = 180.0
"""How long anything is waited for: a busy machine is slow, not wrong."""
_SERVES = re.compile(r"^memory server: (http://\S+)( \(\d+ processes\))?$")
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Unused over plain HTTP; without it each request would read the certificates of the system."""

T = TypeVar("T")


class ServerProcess:
    """`python -m memory_server` in a directory of its own, with the built-in models."""

    def __init__(self, directory: Path, *options: str, **environ: str) -> None:
        self.directory = directory
        self.told: list[str] = []
        """What it has said so far."""
        own = directory / "data" / "owner-token"
        self._token_file = Path(environ.get("AGENTENGINE_OWNER_TOKEN_FILE", own))
        self._url: str | None = None
        self._told = threading.Condition()
        given = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self.process = subprocess.Popen(  # noqa: S603 our own words
            [sys.executable, "-m", "memory_server", "--port", "0", *options],
            env={
                **given,
                "HOME": str(directory),
                "AGENTENGINE_DATA_DIR": str(directory / "data"),
                **environ,
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    @property
    def url(self) -> str:
        """Where it serves; waits until it does."""
        with self._told:
            self._told.wait_for(lambda: self._url or self.has_ended, SECONDS)
            assert self._url, self.told
            return self._url

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def token(self) -> str:
        """The owner token that it made or was given."""
        return self._token_file.read_text()

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask over a connection of its own."""
        url = self.url + path
        headers = {"Authorization": f"Bearer {self.token}"} | more.pop("headers", {})
        more |= {"headers": headers, "timeout": SECONDS, "trust_env": False, "verify": _NO_TLS}
        return httpx.request(method, url, **more)

    def ready(self) -> dict[str, Any]:
        """Return the readiness document."""
        document: dict[str, Any] = self.ask("GET", "/ready").json()
        return document

    def until(self, condition: Callable[["ServerProcess"], T | None]) -> T:
        """Return what a condition says of it as soon as that is true."""
        return until(lambda: condition(self))

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Return the exit code once it has ended, and all it said is in `told`."""
        exit_code = self.process.wait(SECONDS)
        self._listening.join(SECONDS)
        return exit_code

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as told:
            for line in told:
                with self._told:
                    self.told.append(line.rstrip())
                    if match := _SERVES.match(line.rstrip()):
                        self._url = match[1]
                    self._told.notify_all()
        self.process.wait()
        with self._told:
            self._told.notify_all()


@contextmanager
def running(directory: Path, *options: str, **environ: str) -> Iterator[ServerProcess]:
    """Start a server, and end it with the context, however that goes."""
    directory.mkdir(exist_ok=True)
    server = ServerProcess(directory, *options, **environ)
    try:
        yield server
    finally:
        if not server.has_ended:
            server.signal(signal.SIGTERM)
            try:
                server.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                server.process.kill()
        server.ended()


def until(condition: Callable[[], T | None]) -> T:
    """Return what a condition says as soon as that is true."""
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come true within the time"
        time.sleep(0.02)
    return found
