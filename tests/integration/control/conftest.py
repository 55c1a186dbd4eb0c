"""Control planes over the stand-in server, one directory each, all stopped at the end."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentengine_cli.control import addresses
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.readiness import Answer, Voice, probe
from agentengine_cli.control.state import ServerRecord
from agentengine_cli.control.stores import Holdings, StoreFound
from agentengine_cli.stack import find
from memory_server import project_config
from tests.ports import free_port

STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in_server.py")))
CONFIG = "memory: {{log_level: {level}, embedding: {embedding}, extraction_llm: {llm}}}\n"
LOCAL = "{provider: local}"


def look(
    environ: Mapping[str, str], *, counts: bool = False, claim: str | None = None
) -> StoreFound:
    """Find what the stand-in would tell of."""
    vectors = len(list(Path(environ["AGENTENGINE_DATA_DIR"]).iterdir()))
    held = Holdings(turns=3, memories=1, vectors=vectors, active=None, target=None)
    if "MONGODB_URI" not in environ:
        return StoreFound(kind="sqlite", location="memory.db", holdings=held)
    return StoreFound(
        kind="mongodb",
        location="db.test",
        database="mdb_memory_local",
        made_in=claim,
        holdings=held,
    )


class HastyClock(SystemClock):
    """The machine's clock until the server has answered; from then on every wait is a long one."""

    def __init__(self, *, hurries: bool = False) -> None:
        self.hurries = hurries
        self._skipped = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self._skipped

    def sleep(self, seconds: float) -> None:
        self._skipped += 30 if self.hurries else 0
        super().sleep(0.02)

    def prober(self, record: ServerRecord) -> Answer:
        """Ask the server, and hurry only while it answers."""
        answer = probe(record)
        self.hurries = answer.voice is not Voice.SILENT
        return answer


@dataclass
class Bench:
    """One project directory, and what tests do with it."""

    directory: Path
    planes: list[ControlPlane] = field(default_factory=list)

    def plane(self, **options: Any) -> ControlPlane:
        """Return a control plane as a new command would make it."""
        plane = ControlPlane(
            stack=find(self.directory),
            **{"command": STAND_IN, "shell": {}, "look": look, **options},
        )
        self.planes.append(plane)
        return plane

    def hasty_plane(self) -> ControlPlane:
        """Return one whose time limits pass at once when the server has answered."""
        clock = HastyClock()
        return self.plane(clock=clock, prober=clock.prober)

    def configure(self, level: str = "info", *, embedding: str = LOCAL, llm: str = LOCAL) -> None:
        """Store a configuration; its log level says how the stand-in behaves."""
        text = CONFIG.format(level=level, embedding=embedding, llm=llm)
        path = self.directory / "project-config.yaml"
        path.write_text(text)
        self.plane().store(project_config.load(path))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    (tmp_path / "project-config.yaml").write_text("memory: {}\n")
    yield made
    if record := made.plane().state.server():
        record.process.kill()
    made.plane().stop()


@pytest.fixture(autouse=True)
def usual_port(monkeypatch: pytest.MonkeyPatch) -> int:
    """A port of this test's own, because the real one may be taken on this machine."""
    port = free_port()
    monkeypatch.setattr(addresses, "USUAL_PORT", port)
    return port
