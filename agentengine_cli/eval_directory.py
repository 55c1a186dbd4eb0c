"""The directory of an evaluation, held by one command at a time."""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.lock import locked
from agentengine_cli.errors import Interrupted, WrongUsage

LOCK = ".lock"
LOCK_SECONDS = 1.0


@contextlib.contextmanager
def held(directory: Path, *, clock: SystemClock) -> Iterator[None]:
    """Make a directory and hold it while the block runs, which a request to end interrupts.

    Raises `LockHeld` while another command works there, and `Interrupted`.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise WrongUsage(f"--out: {directory} is a file, or below one: name a directory") from None
    with locked(directory / LOCK, clock=clock, timeout_seconds=LOCK_SECONDS), _ended_in_order():
        try:
            yield
        except KeyboardInterrupt as error:
            raise Interrupted(
                f"Stopped; what was done is kept in {directory}",
                hint="Run the same command again: it goes on where it was",
            ) from error


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have a request to end be an interrupt, so that a server that was started is stopped."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
