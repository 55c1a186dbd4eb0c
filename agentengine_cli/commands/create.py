"""create: scaffold a project."""

import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Annotated

import typer

from agentengine_cli.context import CliContext, current
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption, YesOption
from memory_server import project_config

IGNORED = ".agentengine/\n.env\n"
FORBIDDEN = {'"': "a double quote", "\\": "a backslash", "`": "a backtick"}
KINDS = {
    "Cc": "a control character",
    "Cf": "a formatting or bidirectional character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
    "Cs": "half a surrogate pair",
}
MAX_NAME = 100
FALLBACK_SLUG = "memory-project"
"""The directory of a name without a letter or digit of ASCII."""
GIT_SECONDS = 30


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command("create")(create)


def create(
    ctx: typer.Context,
    memory_only: Annotated[
        bool, typer.Option("--memory-only", help="Only a memory server, no agent.")
    ] = False,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The project's name.")] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", metavar="DIR", help="Default: ./ and the name's slug.")
    ] = None,
    memory: Annotated[bool, typer.Option("--memory", hidden=True)] = False,
    template: Annotated[str | None, typer.Option(hidden=True)] = None,
    llm: Annotated[str | None, typer.Option(hidden=True)] = None,
    llm_model: Annotated[str | None, typer.Option(hidden=True)] = None,
    llm_base_url: Annotated[str | None, typer.Option(hidden=True)] = None,
    llm_auth_header: Annotated[str | None, typer.Option(hidden=True)] = None,
    open_egress: Annotated[bool, typer.Option("--open-egress", hidden=True)] = False,
    smoke_test: Annotated[bool, typer.Option("--smoke-test", hidden=True)] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a new project: its configuration, fully commented, under version control.

    agentengine create --memory-only --name "My memory"
    """
    context = current(ctx)
    of_agents = {
        "--template": template,
        "--memory": memory,
        "--llm": llm,
        "--llm-model": llm_model,
        "--llm-base-url": llm_base_url,
        "--llm-auth-header": llm_auth_header,
        "--open-egress": open_egress,
        "--smoke-test": smoke_test,
    }
    _check_kind(memory_only, [option for option, value in of_agents.items() if value])
    project = _checked_name(name or _asked_name(context, yes=yes))
    target = (context.start / (directory or slug(project) or FALLBACK_SLUG)).absolute()
    _write(target, project)
    under_git = _put_under_git(target)
    _report(context, project, target, under_git=under_git)


def slug(name: str) -> str:
    """Return the name as a directory's: ASCII letters, digits and hyphens; may be empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-")


def _check_kind(memory_only: bool, of_agents: list[str]) -> None:
    """Refuse what makes no sense together, and what is not scaffolded here."""
    if memory_only and of_agents:
        raise WrongUsage(f"--memory-only cannot be combined with {', '.join(of_agents)}")
    if not memory_only:
        raise WrongUsage(
            "Only memory-only projects are scaffolded here so far: an agent's code is written "
            "with the official SDK and talks to the memory server over HTTP",
            hint="agentengine create --memory-only --name NAME",
        )


def _asked_name(context: CliContext, *, yes: bool) -> str:
    if yes or not (context.is_interactive and sys.stdout.isatty()):
        raise WrongUsage("--name is missing", hint="agentengine create --memory-only --name NAME")
    return context.output.ask("Name of the project: ")


def _checked_name(name: str) -> str:
    """Return the name without surrounding blanks, or raise naming the character it may not have."""
    name = name.strip()
    if not name:
        raise WrongUsage("--name: must not be blank")
    if len(name) > MAX_NAME:
        raise WrongUsage(f"--name: {len(name)} characters; {MAX_NAME} at most")
    for position, character in enumerate(name, 1):
        kind = FORBIDDEN.get(character) or KINDS.get(unicodedata.category(character))
        if kind:
            shown = f"U+{ord(character):04X}"
            raise WrongUsage(f"--name: character {position} is {kind} ({shown}), not allowed")
    return name


def _write(target: Path, name: str) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CliError(
            f"{target} exists and is not empty; nothing was written",
            hint="Choose another place with --dir",
            code="TARGET_NOT_EMPTY",
        )
    text = project_config.scaffold(name)
    target.mkdir(parents=True, exist_ok=True)
    (target / "project-config.yaml").write_text(text, encoding="utf-8")
    (target / ".gitignore").write_text(IGNORED, encoding="utf-8")


def _put_under_git(target: Path) -> bool:
    """Make a repository, unless there is no git or the place is in one already."""
    git = shutil.which("git")
    if git is None or any((place / ".git").exists() for place in target.parents):
        return False
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            [git, "init", "--quiet", str(target)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _report(context: CliContext, name: str, target: Path, *, under_git: bool) -> None:
    files = ["project-config.yaml", ".gitignore"]
    report = {"name": name, "dir": str(target), "memory_only": True, "files": files}
    if context.output.as_json:
        context.output.document(report | {"git": under_git})
        return
    context.output.result(f"Created {target}")
    if not slug(name):
        context.output.note(f"The name has no letter from a to z and no digit: {target.name} it is")
    context.output.hint(f"cd {shlex.quote(str(target))}")
    context.output.hint("agentengine memory configure, then agentengine memory apply --wait")
    context.output.hint("It needs no key as it is; project-config.yaml says how to use a provider")
