"""auth: who the command line speaks as."""

from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli.context import CliContext, current
from agentengine_cli.control.access import local_server
from agentengine_cli.errors import CliError
from agentengine_cli.filelog import variable
from agentengine_cli.options import JsonOption
from agentengine_cli.target import pinned_context, saved_contexts

app = typer.Typer(name="auth", help="Who the command line speaks as.", no_args_is_help=True)


@app.command()
def status(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Show which credentials and which target are in use; works offline.

    agentengine auth status --json
    """
    context = current(ctx)
    auth, directory = _credentials(context), _directory(context)
    defaults = {"org_id": "local", "project_id": "local", "workspace_id": "local"}
    if as_json:
        report = {"auth": auth, "command_defaults": defaults, "directory_context": directory}
        context.output.document(report)
        return
    context.output.record(auth)
    context.output.record({"directory_context": directory or "none found"})


@app.command()
def login(
    ctx: typer.Context,
    base_url: Annotated[str | None, typer.Option("--base-url", metavar="URL")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say how to identify yourself: a local server needs no login.

    agentengine auth login
    """
    context = current(ctx)
    if base_url is not None and not _is_local(base_url):
        raise CliError(
            f"There is nothing to log in to at {base_url}: servers of this kind know an owner "
            "token and service accounts, no people",
            hint="Set AGENTENGINE_CLIENT_ID and AGENTENGINE_CLIENT_SECRET to a service account's",
            code="LOGIN_NOT_SUPPORTED",
        )
    context.output.record({"logged_in": False, "needed": False})
    context.output.hint("The owner token of the local stack is used by itself")


@app.command()
def logout(ctx: typer.Context) -> None:
    """Forget credentials; none are ever kept, so there is nothing to forget.

    agentengine auth logout
    """
    current(ctx).output.note("Nothing to forget: no credentials are kept outside the project")


def _credentials(context: CliContext) -> dict[str, Any]:
    """Return what a command would use now; never a secret."""
    account = variable(context.environ, "CLIENT_ID")
    if account:
        secret = variable(context.environ, "CLIENT_SECRET") is not None
        return {"kind": "service_account", "client_id": account, "secret_found": secret}
    try:
        server = local_server(context.start)
    except CliError as error:
        return {"kind": "none", "base_url": None, "reason": str(error)}
    return {"kind": "owner_token", "base_url": server.url, "project_id": server.project_id}


def _directory(context: CliContext) -> dict[str, Any] | None:
    pinned = pinned_context(context.start)
    if pinned is None:
        return None
    home = Path(context.environ.get("HOME") or Path.home())
    named = next((saved for saved in saved_contexts(home) if saved.id == pinned), None)
    return {
        "id": pinned,
        "name": named.name if named else None,
        "base_url": named.base_url if named else None,
        "org_id": named.org_id if named else None,
        "project_id": named.project_id if named else None,
    }


def _is_local(url: str) -> bool:
    host = url.partition("://")[2] or url
    return host.split("/")[0].rsplit(":", 1)[0] in {"127.0.0.1", "localhost", "[::1]"}
