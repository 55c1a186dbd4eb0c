"""agentengine memory: check, store and apply the configuration; see how the server is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli import config_file
from agentengine_cli import stack as stacks
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    targeted,
    working,
)
from agentengine_cli.config_file import ConfigRefused
from agentengine_cli.config_file import load as load
from agentengine_cli.connection import Server
from agentengine_cli.context import current
from agentengine_cli.control import addresses
from agentengine_cli.control.drift import drift
from agentengine_cli.control.plan import Applied, ApplyRequest
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.report import status_document, status_lines
from agentengine_cli.control.status import ConfigMark, State, Status
from agentengine_cli.durations import parse_seconds
from agentengine_cli.options import JsonOption, YesOption
from agentengine_cli.output import Output
from agentengine_cli.remote_config import RemoteConfig
from agentengine_cli.target import TargetOptions
from memory_server import project_config
from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import ProjectConfig

app = typer.Typer(help="Configure the memory server, apply it, look at it.", no_args_is_help=True)

PathArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PATH]",
        help="A project's directory, or its project-config.yaml; else the current directory.",
        show_default=False,
    ),
]
PortOption = Annotated[
    int | None,
    typer.Option(min=1, max=65535, help="Listen on this port.", show_default=False),
]
LocalModelsOption = Annotated[
    bool,
    typer.Option("--local-models", help="Use the built-in models whatever is configured."),
]


TimeoutOption = Annotated[
    str, typer.Option("--timeout", metavar="SPAN", help="How long to wait for readiness.")
]
SHORT_DIGEST = 12


@app.command()
def configure(
    ctx: typer.Context,
    path: PathArgument = None,
    yes: YesOption = False,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Store the `memory:` mapping of project-config.yaml; `memory apply` puts it into effect.

    agentengine memory configure --yes
    """
    output = current(ctx).output
    options = TargetOptions(
        context=context, base_url=base_url, org_id=org_id, project_id=project_id
    )
    found = targeted(ctx, options, path)
    file = _file_here(ctx, path)
    if isinstance(found, Server):
        RemoteConfig.of(current(ctx), found).configure(file, yes=yes)
        return
    plane, loaded = found, load(file)
    differences = _compared(plane, loaded)
    config_file.explain(output, loaded, differences)
    output.confirm(f"Store this configuration for {plane.stack.project}?", yes=yes)
    stored = plane.store(loaded)
    status = plane.status()
    if output.as_json:
        document: dict[str, Any] = {
            "digest": stored.digest,
            "at": stored.at,
            "pending": status.pending,
        }
        output.document(
            document | {"differences": differences, "warnings": config_file.warnings_of(loaded)}
        )
        return
    output.result(f"stored: {_short(stored.digest)} from {stored.source}")
    if status.pending:
        output.hint("Nothing is restarted yet. Put it into effect: agentengine memory apply")


@app.command()
def validate(ctx: typer.Context, path: PathArgument = None, as_json: JsonOption = False) -> None:
    """Check project-config.yaml and list every problem; stores nothing.

    agentengine memory validate path/to/project-config.yaml
    """
    output = current(ctx).output
    found = stacks.find(path or current(ctx).start)
    assert found.config is not None, "only found when there is one"
    try:
        loaded = project_config.load(found.config)
    except InvalidProjectConfig as error:
        problems = config_file.problems_of(error)
        if output.as_json:
            output.document({"valid": False, "path": str(found.config), "problems": problems})
            raise typer.Exit(1) from None
        raise ConfigRefused(f"{found.config} is not valid", problems=problems) from None
    warnings = config_file.warnings_of(loaded)
    if output.as_json:
        output.document(
            {"valid": True, "path": str(found.config), "problems": [], "warnings": warnings}
        )
        return
    for warning in warnings:
        output.warning(warning)
    output.result(f"{found.config} is valid")


@app.command()
def schema(ctx: typer.Context) -> None:
    """Print the JSON Schema of project-config.yaml, for editors.

    agentengine memory schema > memory-config.schema.json
    """
    current(ctx).output.document(project_config.load_schema())


@app.command()
def apply(
    ctx: typer.Context,
    wait: Annotated[bool, typer.Option("--wait", help="Return once it is ready.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Restart even without need.")] = False,
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Run the installed version.")] = False,
    local_models: LocalModelsOption = False,
    port: PortOption = None,
    timeout: TimeoutOption = "5m",
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the memory server with the stored configuration.

    agentengine memory apply --wait

    A server that runs elsewhere, named by --context or its ids, stays up while it takes it.
    """
    output = current(ctx).output
    options = TargetOptions(
        context=context, base_url=base_url, org_id=org_id, project_id=project_id
    )
    found = targeted(ctx, options)
    request = ApplyRequest(
        wait=wait,
        force=force,
        upgrade=upgrade,
        local_models=local_models,
        port=port,
        dry_run=dry_run,
        wait_seconds=parse_seconds(timeout, option="--timeout"),
    )
    if isinstance(found, Server):
        RemoteConfig.of(current(ctx), found).apply(request)
        return
    plane = found
    stored = plane.state.stored()
    edited = drift(plane.stack, ConfigMark(digest=stored.digest, at=None) if stored else None)
    if edited is not None:  # first, because the apply may fail for what was mended in the file
        output.warning(edited)
    with working(ctx, "applying") as report:
        applied = plane.apply(request, report)
    if not dry_run:
        tell_port(output, plane, applied.status, pinned=port)
    _show_applied(output, applied, dry_run=dry_run, told=edited)


@app.command()
def status(
    ctx: typer.Context,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how the memory server is, what it waits for, and which configuration it runs.

    agentengine memory status --json
    """
    output = current(ctx).output
    options = TargetOptions(
        context=context, base_url=base_url, org_id=org_id, project_id=project_id
    )
    found = targeted(ctx, options)
    if isinstance(found, Server):
        RemoteConfig.of(current(ctx), found).status()
        return
    show_status(output, found.status())


def show_status(output: Output, status: Status, *, told: str | None = None) -> None:
    """Show the state first, then what deserves attention and was not told yet."""
    if output.as_json:
        output.document(status_document(status))
        return
    for line in status_lines(status):
        output.result(line)
    for warning in status.warnings:
        if warning != told:
            output.warning(warning)


def tell_port(output: Output, plane: ControlPlane, status: Status, *, pinned: int | None) -> None:
    """Say why the server is not where examples look for it, unless its port was chosen."""
    chosen = pinned or stacks.dev_settings(plane.stack).memory_port
    if chosen is None and status.record is not None and status.state.is_running:
        note = addresses.in_the_way(status.record.port)
        if note:
            output.note(note)


def check_compatible(plane: ControlPlane, loaded: ProjectConfig) -> None:
    """Raise `ConfigRefused` if the file changes what cannot be changed any more."""
    _compared(plane, loaded)


def _file_here(ctx: typer.Context, path: Path | None) -> Path:
    """Return the file that is meant, whichever server it is for."""
    stack = stacks.find_existing(path or current(ctx).start)
    if stack.config is None:
        raise stacks.NoProjectConfig(
            f"{stack.project} has no {stacks.CONFIG_NAME} any more",
            hint="Write one with: agentengine create --memory-only --name NAME",
        )
    return stack.config


def _compared(plane: ControlPlane, loaded: ProjectConfig) -> Sequence[str]:
    stored = plane.state.stored()
    return config_file.compared(stored.document if stored else None, loaded)


def _show_applied(
    output: Output, applied: Applied, *, dry_run: bool, told: str | None = None
) -> None:
    status = applied.status
    for warning in applied.warnings:
        output.warning(warning)
    if output.as_json:
        document: dict[str, Any] = {"dry_run": dry_run, "changed": bool(applied.reasons)}
        document |= {"reasons": list(applied.reasons), "notes": list(applied.notes)}
        document |= {"warnings": list(applied.warnings)}
        output.document(document | {"status": status_document(status)})
        return
    for note in applied.notes:
        output.result(note)
    if dry_run:
        verb = "restart" if status.state.is_running else "start"
        would = f"would {verb} the server: " + "; ".join(applied.reasons)
        output.result(would if applied.reasons else "would change nothing")
        output.result(f"version: {status.body.get('version') or '-'}")
        return
    if not applied.reasons:
        output.result("nothing to apply: the configuration is applied already")
    show_status(output, status, told=told)
    if status.state is not State.READY:
        output.hint("See how it goes on: agentengine memory status")


def _short(digest: str) -> str:
    return digest[:SHORT_DIGEST]
