"""agentengine eval extraction: what an extractor leaves of labelled conversations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentengine_cli.commands import eval_options as options
from agentengine_cli.commands.eval_options import DATA, HOW, SERVER, option_of
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    server_of,
    target_options,
)
from agentengine_cli.context import current
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption
from agentengine_cli.output import Output

if TYPE_CHECKING:
    from evaluation.extraction.report import Measured

OUT = Path("extraction")
"""Where a measurement lies unless it is said."""
LOCAL = "local"
HALVES = ("worked", "held", "both")
KINDS = ("misses", "false", "made_up", "actions", "times", "history", "as_of")
"""What can be shown; a test holds this against what is told."""


class FigureNotReached(CliError):
    """A figure is not what was asked for."""


def extraction(
    ctx: typer.Context,
    half: Annotated[
        str, option_of(DATA, "--half", metavar="NAME", help="worked, held or both.")
    ] = "both",
    cases: Annotated[
        Path | None,
        option_of(DATA, "--cases", metavar="PATH", help="Cases of your own: a file or directory."),
    ] = None,
    only: Annotated[
        str | None,
        option_of(DATA, "--only", metavar="IDS", help="Only these, with commas between."),
    ] = None,
    provider: Annotated[
        str,
        option_of(
            SERVER,
            "--provider",
            metavar="NAME",
            help="local (the rules) or PROVIDER/MODEL, on the evaluation's own server.",
        ),
    ] = LOCAL,
    config: options.ConfigOption = None,
    concurrency: Annotated[
        int,
        option_of(
            SERVER,
            "--concurrency",
            metavar="N",
            help="Cases that are lived through at a time.",
            min=1,
            max=64,
        ),
    ] = 8,
    fail_under: Annotated[
        list[str] | None,
        option_of(
            HOW,
            "--fail-under",
            metavar="FIGURE=VALUE",
            help="End with 1 if this is not reached, as precision=0.9,es.recall=0.6,made_up=0.",
        ),
    ] = None,
    show: Annotated[
        str | None,
        option_of(
            HOW,
            "--show",
            metavar="KINDS",
            help="Show case by case: misses, false, made_up, actions, times, history, as_of, all.",
        ),
    ] = None,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal",
            help="Show what was wrong in the held half too, which nobody should tune to.",
            rich_help_panel=HOW,
            show_default=False,
        ),
    ] = False,
    redo: Annotated[
        bool,
        typer.Option(
            "--redo",
            help="Live through the cases again.",
            rich_help_panel=HOW,
            show_default=False,
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Where the measurement lies.")
    ] = OUT,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have labelled conversations remembered, and compare it with what should be.

    agentengine eval extraction --half worked --show misses,false

    agentengine eval extraction --provider openai/gpt-4o-mini --fail-under precision=0.9,made_up=0

    Tells precision, recall, and whether decisions, times, history and searches of the past are
    right, by type and language. Without a target it starts a server of its own in the directory.
    What was done by the same program in the same configuration is not done again.
    """
    from agentengine_cli.evaluating_extraction import ExtractionOrder  # noqa: PLC0415 - loads HTTP

    target = target_options(context_name, base_url, org_id, project_id)
    named = bool(target.context or target.explicit)
    if named and (provider != LOCAL or config is not None):
        raise WrongUsage(
            "--provider and --config are of the evaluation's own server: leave them out, or the "
            "server that is named"
        )
    if half not in HALVES:
        raise WrongUsage(f"--half: {half!r} is none of {', '.join(HALVES)}")
    shown = _kinds(show)
    order = ExtractionOrder(
        context=current(ctx),
        directory=out.absolute(),
        cases=cases,
        half=half,
        only=options.names_of(only, "--only"),
        wanted=dict(_thresholds(fail_under or ())),
        shown=shown,
        reveal=reveal,
        redo=redo,
        concurrency=concurrency,
        model=None if provider == LOCAL else options.model_of(provider, "--provider"),
        config=config,
        target=server_of(ctx, target) if named else None,
    )
    _show(current(ctx).output, order.carry_out())


def _kinds(text: str | None) -> Sequence[str]:
    names = options.names_of(text, "--show") or []
    if unknown := [name for name in names if name not in (*KINDS, "all")]:
        raise WrongUsage(f"--show: {', '.join(unknown)}: there are {', '.join(KINDS)} and all")
    return KINDS if "all" in names else names


def _thresholds(given: Sequence[str]) -> Iterator[tuple[str, float]]:
    for text in given:
        for part in options.names_of(text, "--fail-under") or ():
            yield options.threshold_of(part)


def _show(output: Output, measured: "Measured") -> None:
    """Show the figures; raises `FigureNotReached`."""
    if output.as_json:
        output.document(measured.document)
    else:
        for table in measured.tables:
            output.result(table.title)
            output.cells(table.columns, table.rows)
            for note in table.notes:
                output.result(f"  {note}")
            output.result("")
        output.note(f"Written: {measured.file}")
    if measured.missed:
        raise FigureNotReached(
            f"{len(measured.missed)} of the figures that were asked for are not reached",
            problems=measured.missed,
        )
