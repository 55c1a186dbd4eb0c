"""agentengine dev: run the stack on this machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli import agent_file
from agentengine_cli import stack as stacks
from agentengine_cli.agent_file import AgentFile
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
    tell_port,
)
from agentengine_cli.commands.targeting import plane_here, plane_of, working
from agentengine_cli.context import current
from agentengine_cli.control import environment
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.server import Report
from agentengine_cli.control.status import State, Status
from agentengine_cli.durations import parse_seconds
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption, YesOption
from agentengine_cli.output import Output

app = typer.Typer(help="Run the stack on this machine.", no_args_is_help=True)
SERVICES = ("memory-server", "oe")
"""Two names of one process: it serves the routes of both."""
AGENT = "agent"
"""Runs in processes of its own, which that one starts."""
AGENT_SECONDS = 60.0
"""How long an agent's import is waited for."""
AGENT_POLL_SECONDS = 0.1

AllOption = Annotated[
    bool, typer.Option("--all", help="Use the project-config.yaml at the repository's root.")
]


class MemoryIsOff(CliError):
    """The agent does not use memory."""


class AgentUnloadable(CliError):
    """The server runs, and its agent cannot be loaded."""


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
    """Start the memory server and the agent beside it, if there is one, and wait until both run.

    agentengine dev up

    The configuration is the nearest project-config.yaml; keys come from .env and from secrets.
    """
    output = current(ctx).output
    stack = stacks.find(current(ctx).start, repository_root=every)
    assert stack.config is not None, "only found when there is one"
    plane = plane_of(ctx, stack)
    agent = _agent_of(plane)
    for warning in agent.warnings if agent else ():
        output.warning(str(warning))
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
        found = _with_agent(plane, applied.status, report)
    tell_port(output, plane, found, pinned=port)
    _show_running(ctx, found, applied.warnings)


@app.command()
def status(ctx: typer.Context, every: AllOption = False, as_json: JsonOption = False) -> None:
    """Show what runs and where.

    agentengine dev status --json
    """
    output = current(ctx).output
    found = _meant(ctx, every=every).status()
    document = stack_document(found)
    if output.as_json:
        output.document(document)
        return
    output.result(f"status: {document['status']}")
    notes = {"oe": "the same process", AGENT: _about_agent(found)}
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
    every: AllOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    tail: TailOption = 100,
    grep: GrepOption = None,
) -> None:
    """Show a service's output, and go on with it until interrupted.

    agentengine dev logs --no-follow --tail 50
    """
    output = current(ctx).output
    if list_services:
        for name in (*SERVICES, AGENT):
            output.result(name)
        return
    known = (*SERVICES, AGENT)
    if service is not None and service not in known:
        raise WrongUsage(f"No service is named {service}", hint=f"One of: {', '.join(known)}")
    plane = _meant(ctx, every=every)
    only_agent = service == AGENT
    chosen = line_filter(plane, grep=grep, since=since, until=until, only_agent=only_agent)
    show_log(ctx, plane, chosen, tail=tail, follow=follow and until is None)


@app.command()
def stop(ctx: typer.Context, every: AllOption = False, as_json: JsonOption = False) -> None:
    """Stop the memory server; everything it stored stays.

    agentengine dev stop
    """
    output = current(ctx).output
    with output.status("Memory: stopping"):
        was_running = _meant(ctx, every=every).stop()
    if output.as_json:
        output.document({"stopped": was_running})
    else:
        output.result("stopped" if was_running else "nothing runs")


@app.command()
def restart(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Start the memory server, and its agent, again with the configuration it has.

    agentengine dev restart
    """
    plane = plane_here(ctx)
    with working(ctx, "restarting") as report:
        restarted = plane.restart(report)
        found = _with_agent(plane, restarted.status, report)
    _show_running(ctx, found, restarted.warnings)


@app.command()
def clean(
    ctx: typer.Context,
    every: AllOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Stop the memory server and delete its store: every memory is lost for good.

    agentengine dev clean --yes
    """
    output = current(ctx).output
    plane = _meant(ctx, every=every)
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


def _meant(ctx: typer.Context, *, every: bool) -> ControlPlane:
    """Return the control plane of the nearest stack, or of the one at the repository's root."""
    if not every:
        return plane_here(ctx)
    return plane_of(ctx, stacks.find_existing(current(ctx).start, repository_root=True))


def _agent_of(plane: ControlPlane) -> AgentFile | None:
    """Return what agent.yaml says, if there is one; refuse one that asks for nothing to be run."""
    stack = plane.stack
    path = stack.root / stacks.AGENT_NAME
    if not path.is_file():
        return None
    agent = agent_file.load(path)
    if agent.entrypoint is None and not agent.remembers(environment.read_dotenv(stack.dotenv)):
        raise MemoryIsOff(
            f"{path} names no agent to run and does not turn memory on",
            hint="Set features.memory: true in it, or entrypoint: package.module:callable",
        )
    return agent


def _with_agent(plane: ControlPlane, found: Status, report: Report) -> Status:
    """Wait until the agent of the user's own is loaded or has failed; return the state then."""
    deadline = plane.clock.monotonic() + AGENT_SECONDS
    while _agent_status(found) == "starting" and plane.clock.monotonic() < deadline:
        report("loading the agent")
        plane.clock.sleep(AGENT_POLL_SECONDS)
        found = plane.status()
    return found


def _agent_state(found: Status) -> Mapping[str, Any]:
    """Return what the server tells of an agent of the user's own; empty if it has none."""
    agent = found.body.get("agent")
    is_own = found.record is not None and found.record.has_agent
    return agent if is_own and isinstance(agent, dict) else {}


def _agent_status(found: Status) -> str:
    return str(_agent_state(found).get("status", ""))


def _about_agent(found: Status) -> str:
    agent = _agent_state(found)
    return str(agent.get("problem") or agent.get("name") or "")


def _show_running(ctx: typer.Context, found: Status, warnings: Sequence[str]) -> None:
    output = current(ctx).output
    for warning in warnings:
        output.warning(warning)
    if output.as_json:
        output.document(stack_document(found) | {"warnings": list(warnings)})
    else:
        output.result(f"memory server: {found.url}")
        output.result(f"oe: {found.url}")
        if agent := _agent_state(found):
            output.result(f"agent: {agent.get('name')} ({agent.get('status')})")
    if _agent_status(found) == "failed":
        raise AgentUnloadable(
            f"The memory server runs, and its agent does not: {_about_agent(found)}",
            hint="Mend it and invoke it: its code is loaded again when it changes; after a change "
            "of agent.yaml: agentengine dev up. Its output: agentengine logs --source agent",
        )


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
    if status_of_agent := _agent_status(status):
        services.append(
            {
                "name": AGENT,
                "status": status_of_agent,
                "running": running and status_of_agent == "ready",
                "url": status.url,
            }
        )
    words = {State.READY: "running", State.STARTING: "starting", State.BLOCKED: "degraded"}
    words[State.NOT_RESPONDING] = "degraded"
    return {
        "schema_version": 1,
        "status": words.get(status.state, "stopped"),
        "mode": "local",
        "running": sum(service["running"] for service in services),
        "total": len(services),
        "services": services,
        "context": "local",
    }
