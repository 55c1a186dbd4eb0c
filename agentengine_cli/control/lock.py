"""One command at a time on one state directory."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from agentengine_cli.control.clock import Clock
from agentengine_cli.control.files import PRIVATE_FILE, refusing_clearly
from agentengine_cli.errors import CliError

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]

RETRY_SECONDS = 0.05


class LockHeld(CliError):
    """Another command is working on the same project."""


class LocksUnsupported(CliError):
    """The platform has no file locks."""


@contextlib.contextmanager
def locked(path: Path, *, clock: Clock, timeout_seconds: float) -> Iterator[None]:
    """Hold the lock file while the block runs; the operating system frees it if we die.

    Raises `LockHeld`, naming the holder's process id, when it stays taken.
    """
    if fcntl is None:
        raise LocksUnsupported(
            "The local stack needs POSIX file locks, which this platform does not have",
            hint="Run it under Linux, macOS or WSL",
        )
    with refusing_clearly(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        _acquire(descriptor, path, clock=clock, timeout_seconds=timeout_seconds)
        _name_holder(descriptor)
        yield
    finally:
        os.close(descriptor)  # closing releases the lock


def _acquire(descriptor: int, path: Path, *, clock: Clock, timeout_seconds: float) -> None:
    deadline = clock.monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic() >= deadline:
                raise LockHeld(
                    f"Another command of agentengine (process {_holder(descriptor)}) is changing "
                    f"{path.parent}; waited {timeout_seconds:g} seconds for it",
                    hint="Wait for it to end, or end it, then run this command again",
                ) from None
            clock.sleep(RETRY_SECONDS)
        else:
            return


def _name_holder(descriptor: int) -> None:
    """Write who holds it; only a hint for others, so a full disk does not matter."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
