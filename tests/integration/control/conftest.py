"""Control planes over the stand-in server, one directory each, all stopped at the end."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.stack import find
from memory_server import project_config

STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in_server.py")))
CONFIG = "memory: {{log_level: {level}, embedding: {embedding}, extraction_llm: {llm}}}\n"
LOCAL = "{provider: local}"


class HastyClock(SystemClock):
    """The machine's clock for everybody but time limits, which a hundred waits use up."""

    def __init__(self, limit_seconds: float) -> None:
        self._step = limit_seconds / 100
        self._hurried = 0.0

    def monotonic(self) -> float:
        return self._hurried

    def sleep(self, seconds: float) -> None:
        self._hurried += self._step
        super().sleep(0.02)


@dataclass
class Bench:
    """One project directory, and what tests do with it."""

    directory: Path
    planes: list[ControlPlane] = field(default_factory=list)

    def plane(self, **options: Any) -> ControlPlane:
        """Return a control plane as a new command would make it."""
        plane = ControlPlane(
            stack=find(self.directory), **{"command": STAND_IN, "shell": {}, **options}
        )
        self.planes.append(plane)
        return plane

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
    made.plane().stop()
