"""Reading the memory server's log, as `dev logs` and `logs` both do."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated

import typer

from agentengine_cli.context import current
from agentengine_cli.control import log
from agentengine_cli.control.log import LineFilter
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.durations import parse_seconds
from agentengine_cli.errors import WrongUsage

LARGEST_TAIL = 5000

SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="From then on: 10m ago, or an ISO time."),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Up to then; does not follow.")
]
TailOption = Annotated[
    int, typer.Option("-n", "--tail", min=0, max=LARGEST_TAIL, help="How many lines at most.")
]
GrepOption = Annotated[
    str | None, typer.Option("--grep", metavar="REGEX", help="Only lines that match.")
]


def line_filter(
    plane: ControlPlane,
    *,
    grep: str | None,
    since: str | None,
    until: str | None,
    only_agent: bool = False,
) -> LineFilter:
    """Return what the options ask for; raises `WrongUsage` for one that means nothing."""
    try:
        pattern = re.compile(grep) if grep else None
    except re.error as error:
        raise WrongUsage(f"--grep: not a regular expression: {error}") from error
    now = plane.clock.now()
    return LineFilter(
        pattern=pattern,
        only_agent=only_agent,
        since=_moment(since, now, "--since") if since else None,
        until=_moment(until, now, "--until") if until else None,
    )


def show_log(
    ctx: typer.Context, plane: ControlPlane, chosen: LineFilter, *, tail: int, follow: bool
) -> None:
    """Write the wanted lines, and with `follow` the ones to come, until interrupted."""
    output, path = current(ctx).output, plane.state.log
    start = log.size(path)
    for line in log.last_lines(path, tail, chosen, end=start):
        output.result(line)
    if follow:
        for line in chosen.select(log.follow(path, plane.clock, start=start)):
            output.stream(f"{line}\n")
    elif start == 0:
        output.note(f"no log yet in {path}")


def documents(lines: Iterable[str], source: str = "memory") -> list[dict[str, str | None]]:
    """Return lines as documents with their source and time."""
    found = [(log.timestamp(line), line) for line in lines]
    return [
        {"source": source, "time": moment.isoformat() if moment else None, "message": line}
        for moment, line in found
    ]


def _moment(text: str, now: datetime, option: str) -> datetime:
    moment = log.timestamp(text)
    return moment or now - timedelta(seconds=parse_seconds(text, option=option))
