"""What moves on the terminal while a command works; Rich is loaded only for a terminal."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Protocol


class Status(Protocol):
    """What is being waited for."""

    def update(self, text: str) -> None:
        """Say something else."""
        ...


class Progress:
    """How far the work has come."""

    def __init__(self, total: int, description: str, *, moved: Callable[[int], None]) -> None:
        self._total = total
        self._description = description
        self._moved = moved
        self._began = time.monotonic()
        self.done = 0
        self.more = ""
        """What else there is to say of what was done, in brackets."""

    @property
    def total(self) -> int:
        """How many steps there are."""
        return self._total

    def advance(self, steps: int = 1) -> None:
        """Count steps that are done."""
        self.done += steps
        self._moved(steps)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._began

    def summary(self) -> str:
        """Return what was done, in how much time and how fast."""
        seconds = self.seconds
        pace = f", {self.done / seconds:.0f}/s" if seconds > 0 and self.done else ""
        more = f" ({self.more})" if self.more else ""
        return f"{self._description}: {self.done} of {self._total}{more} in {seconds:.1f} s{pace}"


class _Told:
    """A status nobody watches: told as it changes."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._last = ""

    def update(self, text: str) -> None:
        if text != self._last:
            self._last = text
            self._tell(text)


@contextlib.contextmanager
def open_status(text: str, *, shown: bool, told: Callable[[str], None]) -> Iterator[Status]:
    """Show a spinner on a terminal; elsewhere tell each change once."""
    if not shown:
        quiet = _Told(told)
        quiet.update(text)
        yield quiet
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

    with Console(stderr=True).status(text) as spinner:
        yield spinner


@contextlib.contextmanager
def open_progress(total: int, description: str, *, shown: bool) -> Iterator[Progress]:
    """Show a bar on a terminal; elsewhere only count."""
    if not shown:
        yield Progress(total, description, moved=lambda steps: None)
        return
    from rich import progress as rich  # noqa: PLC0415 - only a terminal needs it
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[pace]}"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, pace="")

        def moved(steps: int) -> None:
            pace = progress.done / max(progress.seconds, 0.001)
            bar.update(task, advance=steps, pace=f"{pace:.0f}/s")

        progress = Progress(total, description, moved=moved)
        yield progress
