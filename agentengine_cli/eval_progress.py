"""How far an evaluation is: a bar on a terminal, else a line now and then."""

import contextlib
from collections.abc import Iterator

from agentengine_cli.output import Output
from agentengine_cli.progress import Progress

TOLD_EVERY = 30.0
"""Seconds between two lines where there is no terminal."""


class _Told:
    """Counts on, and says from time to time how far it is."""

    def __init__(self, output: Output, name: str, progress: Progress) -> None:
        self._output = output
        self._name = name
        self._progress = progress
        self._told_at = 0.0

    def advance(self, steps: int = 1) -> None:
        self._progress.advance(steps)
        seconds = self._progress.seconds
        done, total = self._progress.done, self._progress.total
        if seconds - self._told_at < TOLD_EVERY or done >= total:
            return
        self._told_at = seconds
        left = seconds / done * (total - done)
        self._output.note(f"{self._name}: {done} of {total}, about {_span(left)} left")


class Watching:
    """Shows the stages of an evaluation on stderr."""

    def __init__(self, output: Output) -> None:
        self._output = output

    @contextlib.contextmanager
    def stage(self, name: str, total: int) -> Iterator[_Told | Progress]:
        """Open a stage of that many steps."""
        with self._output.progress(total, name) as progress:
            watched = self._output.is_watched
            yield progress if watched else _Told(self._output, name, progress)

    def note(self, text: str) -> None:
        """Say what the reader of the figures should know."""
        self._output.note(text)


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{max(round(seconds), 1)} s"
