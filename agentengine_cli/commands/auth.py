"""auth: who the command line speaks as."""

import sys
from typing import Annotated, Any

import typer

from agentengine_cli import connection, credentials, session
from agentengine_cli.base_url import is_exposed, normalized
from agentengine_cli.connection import Server
from agentengine_cli.context import CliContext, current
from agentengine_cli.control.access import local_server
from agentengine_cli.control.clock import SystemClock
from agentengine_cli.durations import parse_seconds
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.filelog import variable
from agentengine_cli.home import home_of, user_directory
from agentengine_cli.logins import Login, LoginFile
from agentengine_cli.options import JsonOption, not_blank
from agentengine_cli.session import Door
from agentengine_cli.target import LOCAL, SavedContext, pinned_context, saved_contexts

app = typer.Typer(name="auth", help="Who the command line speaks as.", no_args_is_help=True)

NO_BROWSER = "There is no login by a browser; a name and a password, or a token, is what it takes"


class NoCredentials(CliError):
    """Nothing was given to log in with, and nobody can be asked."""


class SeveralLogins(CliError):
    """One of several logins is meant, and it was not said which."""


@app.command()
def login(
    ctx: typer.Context,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="The platform.", callback=not_blank),
    ] = None,
    username: Annotated[
        str | None, typer.Option(metavar="NAME", help="Log in by a password.", callback=not_blank)
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    from_refresh_token: Annotated[
        bool,
        typer.Option(
            "--from-refresh-token",
            help="Log in by the refresh token in AGENTENGINE_REFRESH_TOKEN, or standard input.",
        ),
    ] = False,
    owner_token_stdin: Annotated[
        bool,
        typer.Option("--owner-token-stdin", help="Keep the server's owner token, from stdin."),
    ] = False,
    project_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The project, if you are in several.", callback=not_blank),
    ] = None,
    timeout: Annotated[str, typer.Option(metavar="SPAN", help="How long to wait.")] = "2m",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Taken for scripts; there is no browser login.")
    ] = False,
    callback_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Taken for scripts; there is no browser login."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Log in to a server, and keep the tokens; in a local stack none is needed.

    agentengine auth login --base-url https://memory.example.com --username ana
    """
    context = current(ctx)
    ways = {
        "--username": username is not None or password_stdin,
        "--from-refresh-token": from_refresh_token,
        "--owner-token-stdin": owner_token_stdin,
    }
    _check_ways(ways, username)
    seconds = parse_seconds(timeout, option="--timeout")
    if no_browser or callback_port is not None:
        context.output.note(NO_BROWSER)
    server = _server(context, base_url)
    door = Door.of(context, server, timeout=seconds)
    if from_refresh_token:
        token = variable(context.environ, "REFRESH_TOKEN")
        kept = door.by_refresh_token(token or _secret(context, "Refresh token"))
    elif owner_token_stdin:
        kept = door.by_owner_token(_secret(context, "Owner token"))
    elif username is None and _is_here(context, server):
        kept = door.by_owner_token(local_server(context.start).owner_token)
    else:
        name = username or _asked_name(context, server)
        kept = door.by_password(
            username=name,
            password=_password(context, from_stdin=password_stdin),
            project_id=project_id,
        )
    _tell(context, kept)


@app.command()
def status(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Show which credentials and which target are in use; works offline.

    agentengine auth status --json
    """
    context = current(ctx)
    file = LoginFile(directory=user_directory(context.environ))
    logins = [login.public(SystemClock()) for login in file.all()]
    auth = _in_use(context) | {"logins": logins}
    directory = _directory(context)
    if as_json:
        report = {
            "auth": auth,
            "command_defaults": _defaults(auth),
            "directory_context": directory,
        }
        context.output.document(report)
        return
    context.output.record({name: value for name, value in auth.items() if name != "logins"})
    for entry in logins:
        context.output.result(_line(entry))
    context.output.record({"directory_context": directory or "none found"})


@app.command()
def logout(
    ctx: typer.Context,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="The server's.", callback=not_blank),
    ] = None,
    project_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The project's.", callback=not_blank)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every login that is meant.")] = False,
) -> None:
    """End the login there is, there and here; of several, the one that is named, or all.

    agentengine auth logout --base-url https://memory.example.com
    """
    context = current(ctx)
    file = LoginFile(directory=user_directory(context.environ))
    only = normalized(base_url) if base_url else None
    meant = [kept for kept in file.all() if kept.is_meant(only, project_id)]
    if not meant:
        to = f" to {only}" if only else ""
        context.output.note(f"You are not logged in{to}{_of_project(project_id)}")
        return
    if len(meant) > 1 and not every:
        raise SeveralLogins(
            f"{len(meant)} logins could be meant; none was ended",
            problems=[
                f"{kept.id} at {kept.base_url}{_of_project(kept.project_id)}" for kept in meant
            ],
            hint="Name it by --base-url and --project-id, or end all of these: "
            f"agentengine auth logout{f' --base-url {only}' if only else ''} --all",
        )
    for kept in meant:
        session.end(context, kept)
    with file.directory.editing(file.directory.auth, SystemClock()):
        file.forget(meant)
    for kept in meant:
        context.output.result(f"logged out: {kept.id} at {kept.base_url}")


def _check_ways(ways: dict[str, bool], username: str | None) -> None:
    chosen = [name for name, given in ways.items() if given]
    if len(chosen) > 1:
        raise WrongUsage(f"{' and '.join(chosen)} exclude each other")
    if chosen == ["--username"] and username is None:
        raise WrongUsage("--password-stdin needs --username")


def _server(context: CliContext, base_url: str | None) -> Server:
    """Return the server to log in to: the one named, else the local stack that runs here."""
    named = base_url or variable(context.environ, "API_BASE_URL")
    if named is None:
        here = connection.running_here(context)
        if here is None:
            raise WrongUsage(
                "No server is named, and no stack runs here",
                hint="agentengine auth login --base-url URL --username NAME",
            )
        named = here.url
    url = normalized(named, option="--base-url" if base_url else "AGENTENGINE_API_BASE_URL")
    if is_exposed(url):
        context.output.warning(f"{url} is not encrypted: others may read what is sent to it")
    server = Server(url=url, project_id=LOCAL)
    context.trail.server = server
    return server


def _is_here(context: CliContext, server: Server) -> bool:
    here = connection.running_here(context)
    return here is not None and here.url == server.url


def _asked_name(context: CliContext, server: Server) -> str:
    if not context.is_interactive:
        raise NoCredentials(
            f"Nothing was given to log in to {server.url} with. {NO_BROWSER}",
            hint="Add --username NAME with --password-stdin or AGENTENGINE_PASSWORD, or "
            "--from-refresh-token, or --owner-token-stdin",
        )
    return str(typer.prompt("Name", err=True))


def _password(context: CliContext, *, from_stdin: bool) -> str:
    given = None if from_stdin else variable(context.environ, "PASSWORD")
    if given is not None:
        return given
    if from_stdin or context.is_interactive:
        return _secret(context, "Password", from_stdin=from_stdin)
    raise NoCredentials(
        "No password was given, and there is no terminal to ask on",
        hint="printf %s PASSWORD | agentengine auth login --username NAME --password-stdin; or "
        "set AGENTENGINE_PASSWORD",
    )


def _secret(context: CliContext, name: str, *, from_stdin: bool = False) -> str:
    """Return what is typed without being shown, or else what standard input holds."""
    if context.is_interactive and not from_stdin:
        given = str(typer.prompt(name, hide_input=True, err=True))
    else:
        given = sys.stdin.read().strip("\r\n")
    if not given.strip():
        raise NoCredentials(f"No {name.lower()} was given: standard input is empty")
    return given


def _tell(context: CliContext, login: Login) -> None:
    shown = login.public(SystemClock())
    names = ("base_url", "kind", "id", "role", "project_id", "org_id", "expires_at")
    context.output.record({"logged_in": True} | {name: shown[name] for name in names})
    if credentials.from_environment(context.environ, login.base_url) is not None:
        context.output.warning(
            "the environment holds credentials for this server, which win over the login: "
            "AGENTENGINE_OWNER_TOKEN or AGENTENGINE_CLIENT_ID"
        )
    project = login.project_id or "ID"
    context.output.hint(
        f"agentengine context create NAME --base-url {login.base_url} --project-id {project}"
    )


def _in_use(context: CliContext) -> dict[str, Any]:
    """Return what a command would use now, called here without options; never a secret."""
    account = variable(context.environ, "CLIENT_ID")
    if variable(context.environ, "OWNER_TOKEN"):
        return {"kind": "owner_token", "source": "AGENTENGINE_OWNER_TOKEN"}
    if account:
        secret = variable(context.environ, "CLIENT_SECRET") is not None
        return {"kind": "service_account", "client_id": account, "secret_found": secret}
    pinned = _pinned(context)
    if pinned is not None:
        return _login_in_use(context, normalized(pinned.base_url), pinned.project_id)
    try:
        server = local_server(context.start)
    except CliError as error:
        known = connection.known_servers(context)
        if len(known) == 1:
            return _login_in_use(context, known[0], None)
        return {"kind": "none", "base_url": None, "reason": str(error)}
    return {"kind": "owner_token", "base_url": server.url, "project_id": server.project_id}


def _login_in_use(context: CliContext, base_url: str, project_id: str | None) -> dict[str, Any]:
    login = LoginFile(directory=user_directory(context.environ)).find(base_url, project_id)
    if login is None:
        return {"kind": "none", "base_url": base_url, "reason": f"Not logged in to {base_url}"}
    return {
        "kind": "login",
        "base_url": base_url,
        "id": login.id,
        "role": login.role,
        "project_id": login.project_id,
        "org_id": login.org_id,
    }


def _defaults(auth: dict[str, Any]) -> dict[str, Any]:
    """Return the ids that are used where a command needs none to be named."""
    return {
        "org_id": auth.get("org_id") or LOCAL,
        "project_id": auth.get("project_id") or LOCAL,
        "workspace_id": connection.DEFAULT_WORKSPACE,
    }


def _pinned(context: CliContext) -> SavedContext | None:
    pinned = pinned_context(context.start)
    saved = saved_contexts(home_of(context.environ)) if pinned else ()
    return next((entry for entry in saved if entry.id == pinned), None)


def _directory(context: CliContext) -> dict[str, Any] | None:
    if pinned_context(context.start) is None:
        return None
    named = _pinned(context)
    return {
        "name": named.name if named else None,
        "base_url": named.base_url if named else None,
        "org_id": named.org_id if named else None,
        "project_id": named.project_id if named else None,
    }


def _of_project(project_id: str | None) -> str:
    return f", project {project_id}" if project_id else ""


def _line(login: dict[str, Any]) -> str:
    """Say who is logged in where, and for how long."""
    role = f", {login['role']}" if login["role"] else ""
    project = _of_project(login["project_id"])
    ends = f", token until {login['expires_at']}" if login["expires_at"] else ""
    if login["expired"]:
        ends = ", renewed when used" if login["renewable"] else ", expired"
    return f"login: {login['id']} ({login['kind']}{role}) at {login['base_url']}{project}{ends}"
