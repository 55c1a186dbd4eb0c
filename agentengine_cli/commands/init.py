"""init: bind an agent's directory to a project."""

import re
from dataclasses import replace

import typer

from agentengine_cli import connection
from agentengine_cli.commands.context import bind, book, shown
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    WorkspaceIdOption,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current, run
from agentengine_cli.contexts import LONGEST_NAME, agent_directory
from agentengine_cli.errors import WrongUsage
from agentengine_cli.options import JsonOption, YesOption
from agentengine_cli.target import SavedContext, TargetOptions


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command("init")(init)


def init(
    ctx: typer.Context,
    context_name: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    workspace_id: WorkspaceIdOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Bind this agent's directory to a project, under a context named after it.

    agentengine init --base-url URL --org-id ORG --project-id PROJECT

    A project of memory only needs none.
    """
    context = current(ctx)
    directory = agent_directory(context.start)
    options = TargetOptions(
        context=context_name,
        base_url=base_url,
        org_id=org_id,
        project_id=project_id,
        workspace_id=workspace_id,
    )
    if context_name is not None and not options.explicit:
        chosen = book(context).get(context_name)
    elif options.explicit:
        chosen = _named_after(context, options)
    else:
        raise WrongUsage(
            "Name the project: a saved context, or all of its ids",
            hint="agentengine init --context NAME, or agentengine init --base-url URL --org-id "
            "ORG --project-id PROJECT",
        )
    bind(context, directory, chosen, yes=yes)
    context.output.record(shown(chosen) | {"directory": str(directory.path)})


def _named_after(context: CliContext, options: TargetOptions) -> SavedContext:
    """Return the context of these ids, saved as <Project-Name>-<project id> if there is none."""
    target = connection.resolved(context, options, command="init")
    server = connection.at(context, target)
    contexts = book(context)
    for saved in contexts.all():
        wanted = replace(saved, base_url=server.url, org_id=server.org_id)
        if saved == replace(wanted, project_id=server.project_id):
            return saved
    name = f"{_slug(run(_project_name(server)))}-{server.project_id}"[:LONGEST_NAME]
    return contexts.create(
        name,
        base_url=server.url,
        org_id=server.org_id,
        project_id=server.project_id,
        workspace_id=options.workspace_id,
    )


async def _project_name(server: Server) -> str:
    async with server.client(server.administrator) as client:
        return (await client.platform.project())["name"]


def _slug(name: str) -> str:
    """Return the name with whatever is no letter or digit as single dashes."""
    return re.sub(r"[\W_]+", "-", name).strip("-") or "project"
