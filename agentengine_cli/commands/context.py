"""context: targets under a name, and the one this directory is pinned to."""

from typing import Annotated, Any

import typer

from agentengine_cli import connection
from agentengine_cli.base_url import normalized
from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
)
from agentengine_cli.context import CliContext, current
from agentengine_cli.contexts import AgentDirectory, ContextBook, agent_directory, check_name
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.filelog import variable
from agentengine_cli.home import user_directory
from agentengine_cli.logins import Login, LoginFile
from agentengine_cli.options import JsonOption, YesOption, not_blank
from agentengine_cli.target import LOCAL, SavedContext, pinned_context

app = typer.Typer(name="context", help="Targets under a name.", no_args_is_help=True)

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The context.", callback=not_blank)
]


class NoContext(CliError):
    """No context is chosen."""


@app.command()
def create(
    ctx: typer.Context,
    name: NameArgument,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Save a project of a server under a name; what is not named comes from your login.

    agentengine context create work --base-url https://memory.example.com --project-id PROJECT
    """
    context = current(ctx)
    check_name(name)
    url = _base_url(context, base_url)
    login = _login(context, url, project_id)
    project = project_id or (login.project_id if login else None)
    if project is None:
        raise WrongUsage(
            "No project is named, and your login names none",
            hint=f'agentengine context create "{name}" --base-url {url} --project-id ID; see: '
            f"agentengine project list --base-url {url}",
        )
    made = book(context).create(
        name,
        base_url=url,
        org_id=org_id or (login.org_id if login else None) or LOCAL,
        project_id=project,
    )
    context.output.record(shown(made))
    context.output.hint(f'agentengine memory status --context "{name}"')


@app.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the saved contexts; * marks the one this directory is pinned to.

    agentengine context list --json
    """
    context = current(ctx)
    pinned = pinned_context(context.start)
    rows = [shown(saved) | {"pinned": saved.id == pinned} for saved in book(context).all()]
    marked = [{"": "*" if row["pinned"] else "", **row} for row in rows]
    context.output.table(
        marked,
        columns=("", "name", "base_url", "org_id", "project_id"),
        document={"contexts": rows, "total": len(rows)},
        empty="No contexts are saved",
    )


@app.command("current")
def current_(
    ctx: typer.Context, context_name: ContextOption = None, as_json: JsonOption = False
) -> None:
    """Show the context a command would use here, and why; fails if there is none.

    agentengine context current --json || exit 1
    """
    context = current(ctx)
    if context_name is not None:
        context.output.record(_as_current(book(context).get(context_name), "flag"))
        return
    pinned = pinned_context(context.start)
    if pinned is None:
        raise NoContext(
            "No context is chosen: this directory is pinned to none, and --context names none",
            hint="agentengine context pin NAME, or name one: agentengine context current "
            "--context NAME",
        )
    found = next((saved for saved in book(context).all() if saved.id == pinned), None)
    if found is None:
        raise NoContext(
            "The context this directory is pinned to does not exist any more",
            hint="Pin it anew: agentengine context pin NAME --yes",
        )
    context.output.record(_as_current(found, "directory pin"))


@app.command()
def pin(
    ctx: typer.Context, name: NameArgument, yes: YesOption = False, as_json: JsonOption = False
) -> None:
    """Have the commands in this agent's directory mean a context; asks before it changes.

    agentengine context pin work
    """
    context = current(ctx)
    chosen = book(context).get(name)
    directory = agent_directory(context.start)
    bind(context, directory, chosen, yes=yes)
    context.output.record({"name": chosen.name, "directory": str(directory.path)})


@app.command()
def delete(
    ctx: typer.Context, name: NameArgument, yes: YesOption = False, as_json: JsonOption = False
) -> None:
    """Forget a context; the project it names stays as it is.

    agentengine context delete work --yes
    """
    context = current(ctx)
    saved = book(context).get(name)
    context.output.confirm(
        f'Delete the context "{name}" ({saved.project_id} at {saved.base_url})?', yes=yes
    )
    book(context).delete(name)
    context.output.record({"name": name, "deleted": True})
    if saved.id == pinned_context(context.start):
        context.output.warning("this directory is still pinned to it; pin it to another one")


def book(context: CliContext) -> ContextBook:
    """Return the user's contexts."""
    return ContextBook(directory=user_directory(context.environ), clock=SystemClock())


def bind(
    context: CliContext, directory: AgentDirectory, chosen: SavedContext, *, yes: bool
) -> None:
    """Pin a directory to a context; asks if it is pinned to another one."""
    pinned = directory.pinned
    if pinned not in {None, chosen.id}:
        former = next((saved for saved in book(context).all() if saved.id == pinned), None)
        named = f'"{former.name}"' if former else "a context that does not exist any more"
        context.output.confirm(
            f'{directory.path} is pinned to {named}; pin it to "{chosen.name}" instead?', yes=yes
        )
    if pinned != chosen.id:
        directory.pin(chosen)


def shown(context: SavedContext) -> dict[str, Any]:
    """Return what a user knows of a context; its id is internal."""
    return {
        "name": context.name,
        "base_url": context.base_url,
        "org_id": context.org_id,
        "project_id": context.project_id,
    }


def _as_current(context: SavedContext, tier: str) -> dict[str, Any]:
    return shown(context) | {"tier": tier}


def _base_url(context: CliContext, given: str | None) -> str:
    """Return the server: the one named, else the only one that is known."""
    named = given or variable(context.environ, "API_BASE_URL")
    if named is not None:
        return normalized(named)
    known = connection.known_servers(context)
    here = connection.running_here(context)
    if not known and here is not None:
        return here.url
    if len(known) == 1:
        return known[0]
    several = f"You are logged in to {', '.join(known)}" if known else "You are not logged in"
    raise WrongUsage(
        f"--base-url is needed: {several[0].lower()}{several[1:]}",
        hint="agentengine context create NAME --base-url URL --project-id ID",
    )


def _login(context: CliContext, base_url: str, project_id: str | None) -> Login | None:
    file = LoginFile(directory=user_directory(context.environ))
    return file.find(base_url, project_id)
