import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest

from agentengine_cli.control.state import ServerRecord, StateDirectory
from agentengine_cli.main import main
from tests.unit.agentengine_cli.stand_in import OWNER_TOKEN, StandIn, served


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


class Cli(Protocol):
    def __call__(
        self, *arguments: str, stdin: bytes = b"", environ: Mapping[str, str] = {}
    ) -> Ran: ...


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, which is also the user's home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def cli(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command as the shell does."""

    def run(*arguments: str, stdin: bytes = b"", environ: Mapping[str, str] = {}) -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        given = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), **environ}
        code = main(list(arguments), given)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def running() -> Iterator[StandIn]:
    with served(StandIn()) as state:
        yield state


@pytest.fixture
def server(running: StandIn) -> StandIn:
    """A server that has not been asked anything yet."""
    fresh = StandIn(url=running.url)
    running.__dict__.update(fresh.__dict__)
    return running


@pytest.fixture
def stack(home: Path, server: StandIn) -> Path:
    """A project in whose directory the stand-in runs."""
    (home / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    announce(home, server.url)
    return home


def announce(project: Path, url: str) -> None:
    """Write down a server as the control plane does; the process is this one."""
    state = StateDirectory(project)
    state.prepare()
    state.owner_token.write_text(OWNER_TOKEN + "\n")
    state.record_server(
        ServerRecord(
            pid=os.getpid(),
            process_started_at=psutil.Process().create_time(),
            url=url,
            port=1,
            instance_id="tests",
            config_digest="none",
            started_at="2026-01-01T00:00:00+00:00",
        )
    )


@pytest.fixture
def lines(home: Path) -> Callable[..., str]:
    """Write a file of turns and return its name."""

    def write(*turns: dict[str, Any] | bytes, name: str = "turns.jsonl") -> str:
        raw = [turn if isinstance(turn, bytes) else json.dumps(turn).encode() for turn in turns]
        (home / name).write_bytes(b"\n".join(raw) + b"\n")
        return name

    return write


def a_turn(**changes: Any) -> dict[str, Any]:
    """Return a line of a conversation file, valid unless changed."""
    return {"session_id": "s1", "user_id": "ana", "role": "user", "content": "Hello"} | changes
