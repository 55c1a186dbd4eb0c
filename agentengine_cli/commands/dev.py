"""agentengine dev: run the stack on this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli import stack as stacks
from agentengine_cli.commands.log_options import (
    GrepOption,
    SinceOption,
    TailOption,
    UntilOption,
    line_filter,
    show_log,
)
from agentengine_cli.commands.memory import (
    LocalModelsOption,
    PortOption,
    TimeoutOption,
    check_compatible,
    load,
)
from agentengine_cli.commands.targeting import plane_here, plane_of, working
from agentengine_cli.context import current
from agentengine_cli.control import environment
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.status import State, Status
from agentengine_cli.durations import parse_seconds
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption, YesOption
from agentengine_cli.output import Output

app = typer.Typer(help="Run the stack on this machine.", no_args_is_help=True)
SERVICES = ("memory-server", "oe")
"""Two names of one process: it serves the routes of both."""

AllOption = Annotated[
    bool, typer.Option("--all", help="Use the project-config.yaml at the repository's root.")
]


class MemoryIsOff(CliError):
    """The agent does not use memory."""


@app.command()
def up(
    ctx: typer.Context,
    every: AllOption = False,
    local_models: LocalModelsOption = False,
    port: PortOption = None,
    timeout: TimeoutOption = "5m",
    headless: Annotated[bool, typer.Option("--headless", hidden=True)] = False,
    as_json: JsonOption = False,
) -> None:
    """Start the memory server with the nearest project-config.yaml and wait until it is ready."""
    output = current(ctx).output
    stack = stacks.find(current(ctx).start, repository_root=every)
    assert stack.config is not None, "only found when there is one"
    plane = plane_of(ctx, stack)
    _check_wanted(plane)
    loaded = load(stack.config)
    check_compatible(plane, loaded)
    for warning in loaded.warnings:
        output.warning(str(warning))
    request = ApplyRequest(
        wait=True,
        local_models=local_models,
        port=port,
        wait_seconds=parse_seconds(timeout, option="--timeout"),
    )
    with working(ctx, "starting") as report:
        applied = plane.up(loaded, request, report)
    _show_running(ctx, applied.status)


@app.command()
def status(ctx: typer.Context, every: AllOption = False, as_json: JsonOption = False) -> None:
    """Show what runs and where."""
    output = current(ctx).output
    plane = (
        plane_of(ctx, stacks.find(current(ctx).start, repository_root=True))
        if every
        else (plane_here(ctx))
    )
    found = plane.status()
    document = stack_document(found)
    if output.as_json:
        output.document(document)
        return
    output.result(f"status: {document['status']}")
    notes = {"oe": "the same process"}
    rows = [{**service, "note": notes.get(service["name"], "")} for service in document["services"]]
    output.table(rows, columns=("name", "status", "url", "note"))
    for warning in found.warnings:
        output.warning(warning)


@app.command()
def logs(
    ctx: typer.Context,
    service: Annotated[str | None, typer.Argument(metavar="[SERVICE]")] = None,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", "-f", help="Go on with it.")
    ] = True,
    list_services: Annotated[
        bool, typer.Option("--list-services", help="Name what has a log.")
    ] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    tail: TailOption = 100,
    grep: GrepOption = None,
) -> None:
    """Show a service's output, and go on with it until interrupted."""
    output = current(ctx).output
    if list_services:
        for name in SERVICES:
            output.result(name)
        return
    if service is not None and service not in SERVICES:
        raise WrongUsage(f"No service is named {service}", hint=f"One of: {', '.join(SERVICES)}")
    plane = plane_here(ctx)
    chosen = line_filter(plane, grep=grep, since=since, until=until)
    show_log(ctx, plane, chosen, tail=tail, follow=follow and until is None)


@app.command()
def stop(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Stop the memory server; everything it stored stays."""
    output = current(ctx).output
    with output.status("Memory: stopping"):
        was_running = plane_here(ctx).stop()
    if output.as_json:
        output.document({"stopped": was_running})
    else:
        output.result("stopped" if was_running else "nothing runs")


@app.command()
def restart(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Start the memory server again with the configuration it has."""
    with working(ctx, "restarting") as report:
        found = plane_here(ctx).restart(report)
    _show_running(ctx, found)


@app.command()
def clean(ctx: typer.Context, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Stop the memory server and delete its store: every memory is lost for good."""
    output = current(ctx).output
    plane = plane_here(ctx)
    going = plane.state.removable()
    if not going:
        _show_deleted(output, ())
        return
    output.note("This is deleted for good:")
    for path in going:
        output.note(f"  {path}{_meaning(path.name)}")
    output.note("The stored configuration, the port, the secrets and any MongoDB database stay.")
    output.confirm("Delete all of it?", yes=yes)
    _show_deleted(output, plane.clean())


def _check_wanted(plane: ControlPlane) -> None:
    stack = plane.stack
    if not stacks.memory_is_on(stack, environment.read_dotenv(stack.dotenv)):
        raise MemoryIsOff(
            f"{stack.root / stacks.AGENT_NAME} does not turn memory on",
            hint="Set features.memory: true in it",
        )


def _show_running(ctx: typer.Context, found: Status) -> None:
    output = current(ctx).output
    if output.as_json:
        output.document(stack_document(found))
        return
    output.result(f"memory server: {found.url}")
    output.result(f"oe: {found.url}")


def _show_deleted(output: Output, paths: Sequence[Path]) -> None:
    if output.as_json:
        output.document({"deleted": [str(path) for path in paths]})
        return
    for path in paths:
        output.result(f"deleted {path}")
    if not paths:
        output.result("nothing to delete")


def _meaning(name: str) -> str:
    meanings = {
        "data": "every turn, memory and service account",
        "owner-token": "a new one is made",
    }
    return f" ({meanings[name]})" if name in meanings else ""


def stack_document(status: Status) -> dict[str, Any]:
    """Return the JSON form of `dev status`."""
    running = status.state.is_running
    services = [
        {"name": name, "status": status.state.value, "running": running, "url": status.url}
        for name in SERVICES
    ]
    words = {State.READY: "running", State.STARTING: "starting", State.BLOCKED: "degraded"}
    words[State.NOT_RESPONDING] = "degraded"
    return {
        "schema_version": 1,
        "status": words.get(status.state, "stopped"),
        "mode": "local",
        "running": len(services) if running else 0,
        "total": len(services),
        "services": services,
        "context": "local",
    }
