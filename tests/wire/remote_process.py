"""A server process of its own, and what is asked of its administration."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

CONFIG = "/api/v1/admin/config"
APPLY = "/api/v1/admin/apply"
RUNTIME = "/api/v1/admin/runtime"
TURNS = "/api/v1/memory/turns"
KEY = "/api/v1/projects/local/secrets/OPENAI_API_KEY"
LOCAL: dict[str, Any] = {
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
}
LOUD = LOCAL | {"log_level": "debug"}
PATIENCE = 60.0


@dataclass
class Server:
    """A server process and its owner."""

    process: "subprocess.Popen[str]"
    owner: httpx.Client
    log: list[str] = field(default_factory=list)

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()

    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = self.owner.get(CONFIG).json()
        return found

    def put(self, memory: dict[str, Any]) -> dict[str, Any]:
        answer = self.owner.put(CONFIG, json={"memory": memory})
        assert answer.status_code == 200, answer.text
        stored: dict[str, Any] = answer.json()
        return stored


@contextmanager
def running(directory: Path, **more: str) -> Iterator[Server]:
    """Start a server on any free port; it ends with a kill, if it was not ended before."""
    data = directory / "data"
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_server", "--port", "0"],
        env=os.environ | {"AGENTENGINE_DATA_DIR": str(data)} | more,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = next(line for line in process.stderr if line.startswith("memory server: "))
        token = (data / "owner-token").read_text()
        headers = {"Authorization": f"Bearer {token}"}
        log: list[str] = []
        reader = threading.Thread(target=lambda: log.extend(process.stderr or ()), daemon=True)
        reader.start()
        with httpx.Client(
            base_url=said.split()[-1], headers=headers, trust_env=False, timeout=PATIENCE
        ) as owner:
            yield Server(process, owner, log)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def until_ready(server: Server) -> None:
    while server.owner.get("/ready").status_code != 200:
        assert server.process.poll() is None


def drained(server: Server) -> None:
    """Return once no job waits or runs; none may have failed."""
    deadline = time.monotonic() + PATIENCE
    while True:
        counts = server.owner.get("/api/v1/memory/queueStats").json()
        if not counts["queued"] + counts["running"]:
            break
        assert time.monotonic() < deadline
    assert counts["failed"] == 0
