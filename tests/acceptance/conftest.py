"""The installed command, in an empty directory, with a server of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.homes import Home


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Runs `agentengine` in a directory, without a terminal, as CI does."""

    directory: Path
    home: Path
    kept: Mapping[str, str] = field(default_factory=dict)
    """What `.env` of the projects that are created here says of where memory is kept."""

    @property
    def search_path(self) -> str:
        """Where Python finds the packages under test, for a program that a test starts itself."""
        return os.environ.get("PYTHONPATH", "")

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> Answer:
        done = subprocess.run(  # noqa: S603 - our own command line
            [sys.executable, "-m", "agentengine_cli", *arguments],
            cwd=self.directory,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "PYTHONPATH": self.search_path,
                **environment,
            },
        )
        if arguments[0] == "create":
            self._keep()
        return Answer(done.returncode, done.stdout, done.stderr)

    def ok(self, *arguments: str, stdin: str = "", **environment: str) -> Answer:
        answer = self.run(*arguments, stdin=stdin, **environment)
        assert answer.code == 0, f"{arguments}: {answer.out}\n{answer.err}"
        return answer

    def _keep(self) -> None:
        """Write into each project's `.env` where memory is kept, if it is not in SQLite."""
        lines = "".join(f"{name}={value}\n" for name, value in self.kept.items())
        for project in self.directory.rglob("project-config.yaml") if lines else ():
            with project.with_name(".env").open("a", encoding="utf-8") as dotenv:
                dotenv.write(lines)

    def status(self) -> dict[str, Any]:
        document: dict[str, Any] = self.ok("memory", "status", "--json").document
        return document


@pytest.fixture
def empty(tmp_path: Path, home: Home) -> Shell:
    of_user = tmp_path / "home"
    of_user.mkdir()
    directory = tmp_path / "work"
    directory.mkdir()
    return Shell(directory, of_user, home.environ)


@pytest.fixture
def project(empty: Shell) -> Iterator[Shell]:
    """A fresh project whose configuration is stored; whatever it started is stopped."""
    empty.ok("create", "--memory-only", "--name", "My Project")
    shell = Shell(empty.directory / "my-project", empty.home)
    shell.ok("memory", "configure", "--yes")
    yield shell
    shell.run("dev", "stop")


@pytest.fixture
def running(project: Shell) -> Shell:
    project.ok("memory", "apply", "--wait")
    return project
