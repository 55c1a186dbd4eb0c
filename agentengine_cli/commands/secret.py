"""agentengine secret: keys the memory server gets, kept out of every file in git."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli.commands.targeting import (
    BaseUrlOption,
    ContextOption,
    OrgIdOption,
    ProjectIdOption,
    targeted,
    working,
)
from agentengine_cli.connection import Server
from agentengine_cli.context import current
from agentengine_cli.control.environment import PROVIDER_KEYS, entries
from agentengine_cli.control.plane import ControlPlane
from agentengine_cli.control.secrets import (
    InvalidSecretName,
    SecretScope,
    check_form,
    check_name,
)
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption, YesOption
from agentengine_cli.remote_secrets import RemoteSecrets, check_scope
from agentengine_cli.target import TargetOptions

app = typer.Typer(help="Keep the keys the memory server needs.", no_args_is_help=True)

ProjectScopeOption = Annotated[
    bool, typer.Option("--project-scope", help="For the whole project (the default).")
]
WorkspaceScopeOption = Annotated[
    bool, typer.Option("--workspace-scope", help="For one workspace; memory does not read it.")
]


class EmptySecret(CliError):
    """A secret would have no value."""


class InvalidSecretFile(CliError):
    """A line of a file of secrets is none; nothing was set."""


class NoValue(CliError):
    """No value was given, and nobody can be asked for one."""


class OnEmpty(StrEnum):
    """What to do about a secret without a value."""

    SKIP = "skip"
    WARN = "warn"
    ERROR = "error"


@app.command("set")
def set_(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None,
    value: Annotated[str | None, typer.Argument(hidden=True)] = None,
    value_option: Annotated[str | None, typer.Option("--value", hidden=True)] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the value from stdin.")] = False,
    from_file: Annotated[
        str | None, typer.Option("--from-file", metavar="FILE", help="Set a dotenv file's entries.")
    ] = None,
    on_empty: Annotated[
        OnEmpty | None, typer.Option("--on-empty", help="What to do about an empty value.")
    ] = None,
    description: Annotated[str | None, typer.Option("--description")] = None,
    sync: Annotated[bool, typer.Option("--sync", help="Restart the server with it.")] = False,
    project_scope: ProjectScopeOption = False,
    workspace_scope: WorkspaceScopeOption = False,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set one secret, or with --from-file several; asks for the value without showing it.

    agentengine secret set OPENAI_API_KEY
    """
    output = current(ctx).output
    scope = _scope(project_scope=project_scope, workspace_scope=workspace_scope)
    found = targeted(ctx, _target(context, base_url, org_id, project_id))
    if isinstance(found, Server):
        check_scope(scope, found)
    inline = value if value is not None else value_option
    given = _given(ctx, name, inline=inline, stdin=stdin, from_file=from_file)
    values = _filled(ctx, given, on_empty)
    _warn(ctx, values, scope)
    changed = _set(ctx, found, values, scope=scope, description=description)
    if sync:
        _roll(ctx, found)
    if output.as_json:
        output.document({"scope": scope.value, "secrets": changed})
        return
    for secret in changed:
        output.result(f"{secret['name']}: version {secret['version']}, {scope} scope")
    if not sync and scope is SecretScope.PROJECT and _runs(found):
        output.hint(
            f"The running server does not have it yet: agentengine secret sync"
            f"{current(ctx).trail.options}"
        )


@app.command("list")
def list_(
    ctx: typer.Context,
    project_scope: ProjectScopeOption = False,
    workspace_scope: WorkspaceScopeOption = False,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show names, versions and dates; a value is never shown.

    agentengine secret list --json
    """
    scope = _scope(project_scope=project_scope, workspace_scope=workspace_scope)
    found = targeted(ctx, _target(context, base_url, org_id, project_id))
    rows = _listed(ctx, found, scope)
    current(ctx).output.table(
        rows,
        columns=("name", "version", "updated_at", "description"),
        document={"secrets": rows, "total": len(rows)},
        empty=f"the {scope} scope has no secrets",
    )


@app.command()
def delete(
    ctx: typer.Context,
    name: str,
    yes: YesOption = False,
    project_scope: ProjectScopeOption = False,
    workspace_scope: WorkspaceScopeOption = False,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
) -> None:
    """Delete one secret.

    agentengine secret delete OPENAI_API_KEY --yes
    """
    output = current(ctx).output
    check_form(name)
    scope = _scope(project_scope=project_scope, workspace_scope=workspace_scope)
    found = targeted(ctx, _target(context, base_url, org_id, project_id))
    where = found if isinstance(found, Server) else found.stack.project
    output.confirm(f"Delete {name} from the {scope} scope of {where}?", yes=yes)
    if isinstance(found, Server):
        check_scope(scope, found)
        RemoteSecrets(context=current(ctx), server=found).delete(name)
    else:
        found.secrets.delete(name, scope=scope)
    output.result(f"deleted {name}")


@app.command()
def sync(
    ctx: typer.Context,
    context: ContextOption = None,
    base_url: BaseUrlOption = None,
    org_id: OrgIdOption = None,
    project_id: ProjectIdOption = None,
) -> None:
    """Have the memory server use the secrets as they are now; returns once it does.

    agentengine secret sync
    """
    _roll(ctx, targeted(ctx, _target(context, base_url, org_id, project_id)))


def _target(
    context: str | None, base_url: str | None, org_id: str | None, project_id: str | None
) -> TargetOptions:
    return TargetOptions(context=context, base_url=base_url, org_id=org_id, project_id=project_id)


def _scope(*, project_scope: bool, workspace_scope: bool) -> SecretScope:
    if project_scope and workspace_scope:
        raise WrongUsage("--project-scope and --workspace-scope exclude each other")
    return SecretScope.WORKSPACE if workspace_scope else SecretScope.PROJECT


def _given(
    ctx: typer.Context, name: str | None, *, inline: str | None, stdin: bool, from_file: str | None
) -> Mapping[str, str]:
    """Return the secrets as they were given, by name; a value may be empty."""
    if sum((inline is not None, stdin, from_file is not None)) > 1:
        raise WrongUsage("Give the value once: --stdin, --from-file, or typed at the prompt")
    if from_file is not None:
        if name is not None:
            raise WrongUsage("--from-file takes the names from the file; leave NAME out")
        return _from_dotenv(from_file)
    if name is None:
        raise WrongUsage("Name the secret", hint="agentengine secret set NAME")
    check_name(name)
    if inline is not None:
        current(ctx).output.warning(
            "a value on the command line ends up in the shell's history; use the prompt or --stdin"
        )
        return {name: inline}
    return {name: sys.stdin.read().removesuffix("\n") if stdin else _asked(ctx, name)}


def _from_dotenv(path: str) -> Mapping[str, str]:
    """Return a dotenv file's entries; raise `InvalidSecretFile`, which says no line, only where."""
    if path != "-" and not Path(path).is_file():
        raise WrongUsage(f"--from-file: there is no file {path}")
    name = "standard input" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidSecretFile(f"{name} is not UTF-8 text; nothing was set") from None
    found, bad = entries(text)
    problems = [f"{name}:{line}: not of the form NAME=value" for line in bad]
    problems += _unfit_names(name, text, found)
    if problems:
        raise InvalidSecretFile(
            f"{name} holds what is no secret; nothing was set (its lines are not shown, in case "
            "they hold values)",
            problems=problems,
            hint="Each line is NAME=value, such as OPENAI_API_KEY=...; # begins a comment",
        )
    return found


def _unfit_names(file: str, text: str, found: Mapping[str, str]) -> list[str]:
    """Say on which lines names are that a secret cannot have."""
    problems = []
    for name in found:
        try:
            check_name(name)
        except InvalidSecretName as error:
            line = next(
                number
                for number, content in enumerate(text.splitlines(), 1)
                if content.strip().removeprefix("export").strip(" '").startswith(name)
            )
            problems.append(f"{file}:{line}: {error}")
    return problems


def _asked(ctx: typer.Context, name: str) -> str:
    if not current(ctx).is_interactive:
        raise NoValue(
            f"{name} was given no value, and there is no terminal to ask on",
            hint=f"printf %s VALUE | agentengine secret set {name} --stdin",
        )
    return str(
        typer.prompt(f"Value of {name}", hide_input=True, default="", show_default=False, err=True)
    )


def _filled(
    ctx: typer.Context, given: Mapping[str, str], on_empty: OnEmpty | None
) -> dict[str, str]:
    """Return the secrets that have a value, after doing what was chosen about the others."""
    for name in given:
        check_name(name)
    empty = [name for name, value in given.items() if not value.strip()]
    filled = {name: value for name, value in given.items() if name not in empty}
    if empty and on_empty is None and current(ctx).is_interactive:
        asked = {name: _asked(ctx, name) for name in empty}
        filled |= {name: value for name, value in asked.items() if value.strip()}
        empty = [name for name in empty if name not in filled]
    if empty and on_empty in {None, OnEmpty.ERROR}:
        raise EmptySecret(
            f"No value for {', '.join(empty)}; nothing was set",
            hint="Give a value, or leave such entries out with --on-empty skip",
        )
    if empty and on_empty is OnEmpty.WARN:
        current(ctx).output.warning(f"left out, because there is no value: {', '.join(empty)}")
    return filled


def _warn(ctx: typer.Context, values: Mapping[str, str], scope: SecretScope) -> None:
    read = [name for name in values if name in PROVIDER_KEYS]
    if scope is SecretScope.WORKSPACE and read:
        current(ctx).output.warning(
            f"the memory server reads the project scope only and will not find {', '.join(read)}; "
            "set it without --workspace-scope"
        )


def _set(
    ctx: typer.Context,
    found: ControlPlane | Server,
    values: Mapping[str, str],
    *,
    scope: SecretScope,
    description: str | None,
) -> list[dict[str, Any]]:
    """Set the secrets and return them without their values."""
    if isinstance(found, Server):
        remote = RemoteSecrets(context=current(ctx), server=found)
        return [dict(secret) for secret in remote.set(values, description=description)]
    changed = found.secrets.set(values, scope=scope, description=description)
    return [secret.public() for secret in changed]


def _listed(
    ctx: typer.Context, found: ControlPlane | Server, scope: SecretScope
) -> Sequence[Mapping[str, Any]]:
    if isinstance(found, Server):
        check_scope(scope, found)
        return RemoteSecrets(context=current(ctx), server=found).list()
    return [secret.public() for secret in found.secrets.list(scope)]


def _runs(found: ControlPlane | Server) -> bool:
    return isinstance(found, Server) or found.status().state.is_running


def _roll(ctx: typer.Context, plane: ControlPlane | Server) -> None:
    """Restart a running server; one that is stopped reads the secrets when it starts."""
    output = current(ctx).output
    if isinstance(plane, Server):
        RemoteSecrets(context=current(ctx), server=plane).sync()
        return
    if not plane.status().state.is_running:
        output.result("no memory server runs; it reads the secrets when it starts")
        return
    with working(ctx, "restarting with the secrets") as report:
        plane.restart(report)
    output.result("the memory server has the secrets")
