"""A memory server of its own for a measurement."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx


class Server:
    """Starts `memory-server` over a data directory, waits until it is ready, and ends it.

    `environment` is what else it is told, as which database to use. With `options` it is started
    with these too.
    """

    def __init__(
        self,
        directory: Path,
        environment: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._directory = directory
        self._environment = dict(environment or {})
        self._options = options
        self._log = directory / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What it has logged."""
        return self._log.read_text(encoding="utf-8")

    def __enter__(self) -> Self:
        self.start()
        self.until_ready()
        return self

    def start(self) -> None:
        """Start it, ready or not."""
        self._directory.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "memory_server", "--port", str(self._port)]
        variables = {"AGENTENGINE_DATA_DIR": str(self._directory), **self._environment}
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own server
                [*command, *self._options], env={**os.environ, **variables}, stderr=output
            )

    def until_ready(self) -> None:
        """Return once it is ready; end the measurement with its log if it ends before."""
        while not self._is_ready():
            if self._process is None or self._process.poll() is not None:
                raise SystemExit(f"the server ended: {self.log}")
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        """Send its process a signal."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        assert self._process is not None
        return self._process.wait(timeout=120)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=60)

    def until_idle(self) -> dict[str, int]:
        """Wait until no job is queued or running, and return the counts."""
        token_file = self._environment.get("AGENTENGINE_OWNER_TOKEN_FILE")
        token = Path(token_file or self._directory / "owner-token").read_text(encoding="utf-8")
        headers = {"Authorization": f"Bearer {token.strip()}"}
        httpx.post(f"{self.url}/api/v1/admin/flush", json={}, headers=headers, timeout=7200)
        while True:
            counts: dict[str, int] = httpx.get(f"{self.url}/api/v1/memory/worker/queueStats").json()
            if not counts["queued"] and not counts["running"]:
                return counts
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
