"""project: the projects of a server, their rules and their people."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from agentengine_cli import connection
from agentengine_cli.commands import project_member
from agentengine_cli.commands.targeting import BaseUrlOption, ContextOption
from agentengine_cli.connection import Server
from agentengine_cli.context import current
from agentengine_cli.errors import WrongUsage
from agentengine_cli.options import JsonOption, YesOption, not_blank

app = typer.Typer(name="project", help="The projects of a server.", no_args_is_help=True)
app.add_typer(project_member.app, name="member")

IdArgument = Annotated[
    str, typer.Argument(metavar="PROJECT_ID", help="The project.", callback=not_blank)
]
FIELDS = ("id", "name", "org_id", "description", "enforce_identity", "allow_delegation")


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What it is called.", callback=not_blank)
    ],
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="A note.")] = None,
    project_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="Its id; else one is made.", callback=not_blank),
    ] = None,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a project: memory of its own, with people and service accounts of its own.

    agentengine project create "Support desk" --json
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name)

    made = server.ask(
        lambda client: client.platform.create_project(name, description=description, id=project_id)
    )
    context.output.record(made if as_json else _shown(made))
    context.output.hint(
        f"agentengine context create NAME --base-url {server.url} --org-id {made['org_id']} "
        f"--project-id {made['id']}"
    )


@app.command("list")
def list_(
    ctx: typer.Context,
    org_id: Annotated[
        str | None,
        typer.Option("--org-id", metavar="ID", help="Only this one's.", callback=not_blank),
    ] = None,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the projects you may see.

    agentengine project list --base-url https://memory.example.com --json
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name)

    found = [
        project
        for project in server.ask(lambda client: client.platform.projects())["projects"]
        if org_id in {None, project["org_id"]}
    ]
    context.output.table(
        [dict(project) for project in found],
        columns=("id", "name", "org_id", "description"),
        document={"projects": found, "total": len(found)},
        empty="No projects",
    )


@app.command()
def get(
    ctx: typer.Context,
    project_id: IdArgument,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a project and its rules.

    agentengine project get PROJECT_ID --json
    """
    server = _server(ctx, base_url, context_name, project_id)

    found = server.ask(lambda client: client.platform.project())
    current(ctx).output.record(found if as_json else _shown(found))


@app.command()
def update(
    ctx: typer.Context,
    project_id: IdArgument,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Call it so.", callback=not_blank)
    ] = None,
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="The note.")] = None,
    enforce_identity: Annotated[
        bool | None,
        typer.Option(
            "--enforce-identity/--no-enforce-identity",
            help="Whether people may name only themselves as user.",
        ),
    ] = None,
    allow_delegation: Annotated[
        bool | None,
        typer.Option(
            "--allow-delegation/--no-allow-delegation",
            help="Whether a service account that invokes an agent may name a user.",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a project's name, note or rules; what is not named stays.

    agentengine project update PROJECT_ID --enforce-identity
    """
    changes = _given(
        name=name,
        description=description,
        enforce_identity=enforce_identity,
        allow_delegation=allow_delegation,
    )
    if not changes:
        raise WrongUsage(
            "Nothing to change is named",
            hint=f"agentengine project update {project_id} --enforce-identity",
        )
    server = _server(ctx, base_url, context_name, project_id)

    changed = server.ask(lambda client: client.platform.update_project(changes))
    current(ctx).output.record(changed if as_json else _shown(changed))


@app.command()
def delete(
    ctx: typer.Context,
    project_id: IdArgument,
    yes: YesOption = False,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a project that holds no memory any more; its accounts and people go with it.

    agentengine project delete PROJECT_ID --yes
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name, project_id)
    context.output.confirm(f"Delete the project {project_id} at {server.url}?", yes=yes)

    server.ask(lambda client: client.platform.delete_project())
    context.output.record({"id": project_id, "deleted": True})


def _server(
    ctx: typer.Context,
    base_url: str | None,
    context_name: str | None,
    project_id: str | None = None,
) -> Server:
    server = connection.platform(
        current(ctx),
        command=ctx.command_path.partition(" ")[2],
        base_url=base_url,
        context_name=context_name,
        project_id=project_id,
    )
    current(ctx).output.note(f"Target: {server.url}")
    return server


def _shown(project: Mapping[str, Any]) -> dict[str, Any]:
    return {name: project[name] for name in FIELDS if project.get(name) not in {None, ""}}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
