"""agentengine memory reembed: the vectors of another embedding model."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from agentengine_cli.commands.memory import LocalModelsOption
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    target_options,
    targeted,
    working,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import current, run
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.control.plan import ApplyRequest
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.report import told_reembedding
from agentengine_cli.durations import parse_seconds
from agentengine_cli.options import JsonOption, YesOption
from agentengine_cli.reembedding import Look, watch
from agentengine_cli.remote_config import RemoteConfig

QUESTION = "Have all vectors made anew by the embedding model of the stored configuration?"
NOTHING = "nothing to do: the vectors are of the stored configuration's model"


def register(memory_app: typer.Typer) -> None:
    """Add the command to the `memory` group."""
    memory_app.command("reembed")(reembed)


def reembed(
    ctx: typer.Context,
    wait: Annotated[bool, typer.Option("--wait", help="Return once the new one answers.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    yes: YesOption = False,
    local_models: LocalModelsOption = False,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="SPAN", help="How long to wait for the end.")
    ] = "24h",
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Apply the stored configuration, whose embedding model or dimension is another one.

    agentengine memory reembed --wait

    Every turn and memory gets a vector of the new model in the background. Until all have one,
    the former vectors answer; then the new ones do. To give it up, configure the former model
    and apply.
    """
    output = current(ctx).output
    seconds = parse_seconds(timeout, option="--timeout")
    found = targeted(ctx, target_options(context, base_url, org_id, project_id))
    if not dry_run:
        output.confirm(QUESTION, yes=yes)
    request = ApplyRequest(
        reembed=True, wait=not dry_run, dry_run=dry_run, local_models=local_models
    )
    if isinstance(found, Server):
        remote = RemoteConfig.of(current(ctx), found)
        changes, look = _begun_elsewhere(remote, request)
    else:
        changes, look = _begun_here(ctx, found, request)
    if dry_run:
        _show(ctx, {"dry_run": True, "reasons": changes}, changes or [NOTHING], "would: ")
        return
    if wait:
        watch(
            look,
            output=output,
            clock=SystemClock(),
            seconds=seconds,
            options=current(ctx).trail.options,
        )
    told = dict(look())
    document = {"dry_run": False, "reasons": changes, "reembedding": told}
    state = told_reembedding(told)
    lines = [
        *(changes or ([] if state else [NOTHING])),
        *([f"reembedding: {state}"] if state else []),
    ]
    _show(ctx, document, lines)
    if told.get("state") == "running":
        output.hint("See how it goes on: agentengine memory status" + current(ctx).trail.options)


def _begun_here(
    ctx: typer.Context, plane: ControlPlane, request: ApplyRequest
) -> tuple[Sequence[str], Look]:
    with working(ctx, "applying") as report:
        applied = plane.apply(request, report)
    return list(applied.reasons), lambda: plane.status().body.get("reembedding") or {}


def _begun_elsewhere(remote: RemoteConfig, request: ApplyRequest) -> tuple[Sequence[str], Look]:
    changes = remote.reembed(request)
    return changes, lambda: run(remote.runtime()).get("reembedding") or {}


def _show(
    ctx: typer.Context, document: Mapping[str, Any], lines: Sequence[str], before: str = ""
) -> None:
    output = current(ctx).output
    if output.as_json:
        output.document(document)
        return
    for line in lines:
        output.result(before + line)
