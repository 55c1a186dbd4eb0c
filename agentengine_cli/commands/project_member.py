"""project member: the people of a project."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentengine_cli import connection
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    ProjectIdOption,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current
from agentengine_cli.errors import WrongUsage
from agentengine_cli.options import JsonOption, YesOption, not_blank

if TYPE_CHECKING:
    from memory_server.client import NewMember

ROLES = ("PROJECT_OWNER", "AGENT_DEVELOPER", "PROJECT_READ_ONLY")

app = typer.Typer(name="member", help="The people of a project.", no_args_is_help=True)

UserArgument = Annotated[
    str, typer.Argument(metavar="USER_ID", help="The person.", callback=not_blank)
]


@app.command()
def add(
    ctx: typer.Context,
    user_id: UserArgument,
    role: Annotated[str, typer.Option(metavar="ROLE", help=f"One of {', '.join(ROLES)}.")],
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a person a member; a password that is made for them is shown this once.

    agentengine project member add ana --role AGENT_DEVELOPER
    """
    _check_role(role)
    server = _server(ctx, base_url, context_name, project_id)

    _issue(
        current(ctx),
        server,
        server.ask(lambda client: client.platform.add_member(user_id=user_id, role=role)),
    )


@app.command("list")
def list_(
    ctx: typer.Context,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the people of a project and their roles.

    agentengine project member list --json
    """
    server = _server(ctx, base_url, context_name, project_id)

    members = server.ask(lambda client: client.platform.members())
    current(ctx).output.table(
        [dict(member) for member in members],
        columns=("user_id", "role", "created_at"),
        document={"members": members, "total": len(members)},
        empty="Nobody is a member",
    )


@app.command()
def update(
    ctx: typer.Context,
    user_id: UserArgument,
    role: Annotated[str, typer.Option(metavar="ROLE", help=f"One of {', '.join(ROLES)}.")],
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a person another role, from their next request on.

    agentengine project member update ana --role PROJECT_OWNER
    """
    _check_role(role)
    server = _server(ctx, base_url, context_name, project_id)

    current(ctx).output.record(
        server.ask(lambda client: client.platform.change_member(user_id, role=role))
    )


@app.command()
def remove(
    ctx: typer.Context,
    user_id: UserArgument,
    yes: YesOption = False,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a person's membership, at once; what they remember stays.

    agentengine project member remove ana --yes
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name, project_id)
    context.output.confirm(f"Remove {user_id} from {server}?", yes=yes)

    server.ask(lambda client: client.platform.remove_member(user_id))
    context.output.record({"user_id": user_id, "removed": True})


@app.command("reset-password")
def reset_password(
    ctx: typer.Context,
    user_id: UserArgument,
    yes: YesOption = False,
    base_url: BaseUrlOption = None,
    context_name: ContextOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a person a new password, shown this once; the former one ends.

    agentengine project member reset-password ana --yes
    """
    context = current(ctx)
    server = _server(ctx, base_url, context_name, project_id)
    context.output.confirm(f"End the password of {user_id} and make a new one?", yes=yes)

    _issue(context, server, server.ask(lambda client: client.platform.reset_password(user_id)))


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise WrongUsage(f"--role: expected one of {', '.join(ROLES)}, found {role!r}")


def _server(
    ctx: typer.Context, base_url: str | None, context_name: str | None, project_id: str | None
) -> Server:
    """Return the server and the project that is meant, and say so on stderr."""
    server = connection.platform(
        current(ctx),
        command=ctx.command_path.partition(" ")[2],
        base_url=base_url,
        context_name=context_name,
        project_id=project_id,
    )
    if not server.is_project_named:
        raise WrongUsage("Name the project: --project-id ID", hint="agentengine project list")
    current(ctx).output.note(f"Target: {server}")
    return server


def _issue(context: CliContext, server: Server, issued: "NewMember") -> None:
    """Show the password, the one time it can be shown."""
    if context.output.as_json:
        context.output.document(issued)
        return
    member, password = issued["member"], issued.get("password")
    fields: dict[str, Any] = {"user_id": member["user_id"], "role": member["role"]}
    context.output.record(fields | ({"password": password} if password else {}))
    if not password:
        context.output.note("The password stays the one that was given before")
        return
    context.output.warning("The password is shown only now; hand it over where secrets are safe")
    context.output.note(
        f"agentengine auth login --base-url {server.url} --username {member['user_id']} "
        f"--project-id {server.project_id}"
    )
