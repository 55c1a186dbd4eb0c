"""The options that say which project is meant, and where they lead."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli import connection
from agentengine_cli import stack as stacks
from agentengine_cli import target as targets
from agentengine_cli.connection import Server
from agentengine_cli.context import current
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.server import Report
from agentengine_cli.home import home_of
from agentengine_cli.options import not_blank
from agentengine_cli.stack import NoProjectConfig, Stack
from agentengine_cli.target import LocalStack, TargetOptions

PANEL = "Which project"


def _which(name: str, metavar: str, help: str) -> Any:
    return typer.Option(name, metavar=metavar, help=help, rich_help_panel=PANEL, callback=not_blank)


ContextOption = Annotated[str | None, _which("--context", "NAME", "A saved context.")]
BaseUrlOption = Annotated[str | None, _which("--base-url", "URL", "The platform.")]
OrgIdOption = Annotated[str | None, _which("--org-id", "ID", "The organization.")]
ProjectIdOption = Annotated[str | None, _which("--project-id", "ID", "The project.")]
WorkspaceIdOption = Annotated[str | None, _which("--workspace-id", "ID", "The workspace.")]


def plane_here(ctx: typer.Context, start: Path | None = None) -> ControlPlane:
    """Return the control plane of the stack around `start`, or around the current directory."""
    context = current(ctx)
    found = stacks.find_existing(start or context.start)
    context.output.debug(f"stack {found.root}, state in {found.project / stacks.STATE_NAME}")
    return plane_of(ctx, found)


def plane_of(ctx: typer.Context, stack: Stack) -> ControlPlane:
    """Return the control plane of a stack."""
    return ControlPlane(stack=stack, shell=dict(current(ctx).environ))


def targeted(
    ctx: typer.Context, options: TargetOptions, start: Path | None = None
) -> ControlPlane | Server:
    """Return what the options mean, and say so on stderr: the local stack, or another server.

    Raises what `target.resolve` raises.
    """
    context = current(ctx)
    context.trail.options = str(options)
    start = start or context.start
    plane = None
    try:
        plane = plane_here(ctx, start)
    except NoProjectConfig:
        if not (options.context or options.explicit or targets.pinned_context(start.resolve())):
            raise
    local = LocalStack(url=plane.url if plane else None)
    target = targets.resolve(
        connection.completed(context, options),
        command=ctx.command_path.partition(" ")[2],
        contexts=targets.saved_contexts(home_of(context.environ)),
        pinned=targets.pinned_context(start.resolve()),
        local=local if plane else None,
    )
    if plane is not None and targets.is_local(target, local):
        context.output.note(f"Target: {target}, in {plane.stack.project}")
        return plane
    context.output.note(f"Target: {target}")
    return connection.at(context, target)


def target_options(
    context_name: str | None, base_url: str | None, org_id: str | None, project_id: str | None
) -> TargetOptions:
    """Return the four options every command about a project has."""
    return TargetOptions(
        context=context_name, base_url=base_url, org_id=org_id, project_id=project_id
    )


def server_of(ctx: typer.Context, options: TargetOptions) -> Server:
    """Return the server a command about what is remembered means, and say so on stderr."""
    return connection.reach(current(ctx), options, command=ctx.command_path.partition(" ")[2])


@contextlib.contextmanager
def working(ctx: typer.Context, text: str) -> Iterator[Report]:
    """Show what is waited for; an interrupted wait leaves the server, and says so."""
    output = current(ctx).output
    try:
        with output.status(f"Memory: {text}") as spinner:

            def heard(news: str) -> None:
                if news.startswith("blocked: "):  # what somebody may have to mend, so at once
                    output.note(f"Memory: {news}")
                    news = "blocked, waiting"
                spinner.update(f"Memory: {news}")

            yield heard
    except KeyboardInterrupt:
        output.note("The memory server was left as it is; see: agentengine memory status")
        raise
