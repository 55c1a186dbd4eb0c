"""A process that outlives the command that started it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from agentengine_cli.control.clock import Clock
from agentengine_cli.errors import CliError

SAME_START_SECONDS = 1.0
"""The system derives start times from a clock that may be adjusted."""
INSTANCE_VARIABLE = "AGENTENGINE_INSTANCE_ID"
POLL_SECONDS = 0.05

_children: dict[int, subprocess.Popen[bytes]] = {}
"""What this interpreter started: only a parent learns an exit code, and must collect it."""


class LaunchFailed(CliError):
    """The operating system could not start the program."""


class NotPermitted(CliError):
    """The process belongs to somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedProcess:
    """A process id together with what tells it from a later process of the same id."""

    pid: int
    started_at: float
    """Start time in seconds since the epoch, as the operating system reports it."""
    instance_id: str | None = None
    """Also found in the process's environment; decides when the clock was adjusted meanwhile."""

    @classmethod
    def launch(
        cls, command: Sequence[str], *, environment: Mapping[str, str], directory: Path, log: Path
    ) -> Self:
        """Start a program in a session of its own, its output appended to `log`."""
        try:
            with log.open("ab") as output:
                child = subprocess.Popen(  # noqa: S603 - the command is ours, never a user's text
                    list(command),
                    env=dict(environment),
                    cwd=directory,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise LaunchFailed(f"Cannot start {command[0]}: {error.strerror or error}") from error
        _children[child.pid] = child
        return cls(
            pid=child.pid,
            started_at=_start_time(child.pid) or 0.0,
            instance_id=environment.get(INSTANCE_VARIABLE),
        )

    @property
    def is_running(self) -> bool:
        """Whether this very process is alive; a reused process id does not count."""
        self.poll()
        if psutil.pid_exists(self.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                found = psutil.Process(self.pid)
                return found.status() != psutil.STATUS_ZOMBIE and self._is_same(found)
        return False

    def poll(self) -> int | None:
        """Return the exit code (negative: the signal), if this interpreter can know it."""
        child = _children.get(self.pid)
        return child.poll() if child is not None else None

    def environment(self) -> Mapping[str, str] | None:
        """Return what it was started with, while it runs and the system lets us read it."""
        if not self.is_running:
            return None
        with contextlib.suppress(psutil.Error):
            return psutil.Process(self.pid).environ()
        return None

    def wait(self, *, clock: Clock, timeout_seconds: float) -> bool:
        """Return whether the process ended within the time."""
        deadline = clock.monotonic() + timeout_seconds
        while self.is_running:
            if clock.monotonic() >= deadline:
                return False
            clock.sleep(POLL_SECONDS)
        return True

    def send_signal(self, number: signal.Signals) -> None:
        """Signal the process; nothing happens if it has ended or its id belongs to another."""
        if not self.is_running:
            return
        try:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
        except PermissionError as error:
            raise NotPermitted(
                f"Process {self.pid} was started by another user",
                hint="Run this command as the user who started the memory server",
            ) from error

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _is_same(self, found: psutil.Process) -> bool:
        if abs(found.create_time() - self.started_at) <= SAME_START_SECONDS:
            return True
        if self.instance_id is None:
            return False
        with contextlib.suppress(psutil.AccessDenied):
            return found.environ().get(INSTANCE_VARIABLE) == self.instance_id
        return False


def find_launched(command: Sequence[str], variable: str, value: str) -> Sequence[ManagedProcess]:
    """Return the processes that were launched here with that command and that variable's value.

    The variable alone would not do: a shell that exports it passes it on to everything.
    """
    found = []
    for process in psutil.process_iter(["cmdline", "environ", "create_time", "status"]):
        told = process.info
        arguments, environment = told["cmdline"] or [], told["environ"] or {}
        if (
            told["status"] != psutil.STATUS_ZOMBIE
            and arguments[1 : len(command)] == list(command[1:])
            and environment.get(variable) == value
            and INSTANCE_VARIABLE in environment
        ):
            found.append(ManagedProcess(pid=process.pid, started_at=told["create_time"]))
    return found


def _start_time(pid: int) -> float | None:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return None
