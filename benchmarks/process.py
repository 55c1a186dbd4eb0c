"""A memory server of its own for a measurement."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx


class Server:
    """Starts `memory-server` over a data directory, waits until it is ready, and ends it."""

    def __init__(self, directory: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._directory = directory
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

    def __enter__(self) -> Self:
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own server
                [sys.executable, "-m", "memory_server", "--port", str(self._port)],
                env={**os.environ, "AGENTENGINE_DATA_DIR": str(self._directory)},
                stderr=output,
            )
        while not self._is_ready():
            if self._process.poll() is not None:
                raise SystemExit(f"the server ended: {self._log.read_text()}")
            time.sleep(0.05)
        return self

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
        token = (self._directory / "owner-token").read_text(encoding="utf-8").strip()
        headers = {"Authorization": f"Bearer {token}"}
        httpx.post(f"{self.url}/api/v1/admin/flush", json={}, headers=headers, timeout=600)
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
