"""Watching the vectors of another embedding model being made."""

from collections.abc import Callable, Mapping
from typing import Any

from agentengine_cli.control.clock import Clock
from agentengine_cli.errors import CliError
from agentengine_cli.output import Output

POLL_SECONDS = 0.5
GOES_ON = "It goes on in the background; see: agentengine memory status"

Look = Callable[[], Mapping[str, Any]]
"""Returns the `reembedding` of a status; empty: nothing is left to be done."""


class NotReembedded(CliError):
    """The vectors were not made in time."""


def watch(look: Look, *, output: Output, clock: Clock, seconds: float, options: str = "") -> None:
    """Show the progress, and return once the other model answers.

    Raises `NotReembedded` with what it waits for when the time is over, and at once when the
    work was given up.
    """
    told = look()
    if told.get("state") == "running":
        told = _watched(told, look, output=output, clock=clock, seconds=seconds, options=options)
    if told.get("state") == "needed":
        raise NotReembedded(
            "The re-embedding was given up meanwhile",
            hint="Begin again: agentengine memory reembed" + options,
        )


def _watched(
    told: Mapping[str, Any],
    look: Look,
    *,
    output: Output,
    clock: Clock,
    seconds: float,
    options: str,
) -> Mapping[str, Any]:
    """Show how it goes on until it does no more, and return what is told then."""
    deadline = clock.monotonic() + seconds
    with output.progress(int(told["total"]), "Re-embedding") as progress:
        while told.get("state") == "running":
            progress.advance(max(int(told["done"]) - progress.done, 0))
            if clock.monotonic() >= deadline:
                problem = told.get("problem")
                waits = f": {problem}" if problem else ""
                raise NotReembedded(
                    f"{told['done']} of {told['total']} texts have their new vector after "
                    f"{seconds:g} seconds{waits}",
                    hint=GOES_ON + options,
                )
            clock.sleep(POLL_SECONDS)
            told = look()
        progress.advance(max(progress.total - progress.done, 0))
    return told
