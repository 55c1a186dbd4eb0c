"""What is kept for the user, whichever directory a command is called in: `~/.agentengine/`."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentengine_cli.control.clock import Clock
from agentengine_cli.control.files import PRIVATE_DIRECTORY, refusing_clearly
from agentengine_cli.control.lock import locked
from agentengine_cli.filelog import variable

DIRECTORY_NAME = ".agentengine"
WAIT_SECONDS = 60.0
"""Longer than a refresh of a token takes, which happens under the lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDirectory:
    """auth.json and contexts.json, and where they lie."""

    path: Path
    auth: Path
    """The tokens; somewhere else if AGENTENGINE_AUTH_FILE says so."""

    @property
    def contexts(self) -> Path:
        """The saved contexts."""
        return self.path / "contexts.json"

    @contextlib.contextmanager
    def editing(self, file: Path, clock: Clock) -> Iterator[None]:
        """Hold off every other command that edits that file; its directory is made if need be."""
        with refusing_clearly(file):
            if file.parent == self.path:
                self.path.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
                self.path.chmod(PRIVATE_DIRECTORY)
            else:
                file.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        lock = file.with_name(f"{file.name}.lock")
        with locked(lock, clock=clock, timeout_seconds=WAIT_SECONDS):
            yield


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the user's home directory."""
    return Path(environ.get("HOME") or Path.home())


def user_directory(environ: Mapping[str, str]) -> UserDirectory:
    """Return where this user's tokens and contexts are kept."""
    path = home_of(environ) / DIRECTORY_NAME
    named = variable(environ, "AUTH_FILE")
    return UserDirectory(path=path, auth=Path(named).expanduser() if named else path / "auth.json")
