"""agentengine status: the stack and its memory at a glance."""

from typing import Annotated

import typer

from agentengine_cli.commands.dev import stack_document
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    targeted,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import current
from agentengine_cli.control.report import status_document, status_lines
from agentengine_cli.options import JsonOption, inherits_global_options
from agentengine_cli.remote_config import RemoteConfig
from agentengine_cli.target import TargetOptions


def register(root: typer.Typer) -> None:
    """Add the command to the application."""
    root.command("status")(inherits_global_options(status, except_for=("verbose",)))


def status(
    ctx: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the paths too.")] = False,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the stack and how its memory server is.

    agentengine status --json
    """
    output = current(ctx).output
    options = TargetOptions(
        context=context, base_url=base_url, org_id=org_id, project_id=project_id
    )
    plane = targeted(ctx, options)
    if isinstance(plane, Server):
        RemoteConfig.of(current(ctx), plane).at_a_glance()
        return
    found = plane.status()
    if output.as_json:
        output.document({"stack": stack_document(found), "memory": status_document(found)})
        return
    output.result(f"project: {plane.stack.project}")
    output.result(f"stack: {stack_document(found)['status']}")
    for line in status_lines(found):
        output.result(f"memory {line}")
    for warning in found.warnings:
        output.warning(warning)
    if verbose:
        output.result(f"state directory: {plane.state.path}")
        output.result(f"log: {plane.state.log}")
        output.result(f"keys are read from: {plane.stack.dotenv}")
