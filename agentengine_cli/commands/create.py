"""create: scaffold a project."""

import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli.agent_scaffold import (
    KEY,
    MODELS,
    OPENROUTER_URL,
    TEMPLATE,
    Llm,
    Scaffold,
)
from agentengine_cli.context import CliContext, current
from agentengine_cli.errors import CliError, WrongUsage
from agentengine_cli.options import JsonOption, YesOption, not_blank
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
FALLBACK_AGENT = "agent"
AUTH_HEADERS = ("authorization", "api-key")
PRIVATE, PUBLIC = 0o600, 0o666
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
    memory: Annotated[
        bool, typer.Option("--memory", help="Let the agent remember (features.memory).")
    ] = False,
    template: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"What to start from: {TEMPLATE}.")
    ] = None,
    llm: Annotated[
        Llm | None, typer.Option(help="The language model; local, the default, needs no key.")
    ] = None,
    llm_model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model's name.", callback=not_blank)
    ] = None,
    llm_base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where it is.", callback=not_blank)
    ] = None,
    llm_auth_header: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How the key is sent: authorization or api-key."),
    ] = None,
    open_egress: Annotated[bool, typer.Option("--open-egress", hidden=True)] = False,
    smoke_test: Annotated[bool, typer.Option("--smoke-test", hidden=True)] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a new project, an agent and its memory or memory only, under version control.

    agentengine create --name "My agent" --memory

    agentengine create --memory-only --name "My memory"
    """
    context = current(ctx)
    of_agents = {
        "--template": template,
        "--memory": memory,
        "--llm": llm is not None,
        "--llm-model": llm_model,
        "--llm-base-url": llm_base_url,
        "--llm-auth-header": llm_auth_header,
        "--open-egress": open_egress,
        "--smoke-test": smoke_test,
    }
    _check_kind(memory_only, [option for option, value in of_agents.items() if value])
    _check_template(template, smoke_test=smoke_test)
    model = _model(llm or Llm.LOCAL, llm_model, llm_base_url, llm_auth_header)
    project = _checked_name(name if name is not None else _asked_name(context, yes=yes))
    target = (context.start / (directory or slug(project) or FALLBACK_SLUG)).absolute()
    if memory_only:
        files = {"project-config.yaml": project_config.scaffold(project), ".gitignore": IGNORED}
    else:
        scaffold = Scaffold(
            name=project,
            slug=slug(project) or FALLBACK_AGENT,
            memory=memory,
            key=_key(context, model["llm"], yes=yes),
            **model,
        )
        files = scaffold.files
    _write(target, files)
    under_git = _put_under_git(target)
    _report(context, project, target, files, under_git=under_git)


def slug(name: str) -> str:
    """Return the name as a directory's: ASCII letters, digits and hyphens; may be empty."""
    folded = unicodedata.normalize("NFKD", name.casefold())  # a sharp s becomes two letters
    plain = folded.encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-")


def _check_kind(memory_only: bool, of_agents: list[str]) -> None:
    """Refuse what makes no sense together, and what is not scaffolded here."""
    if memory_only and of_agents:
        raise WrongUsage(f"--memory-only cannot be combined with {', '.join(of_agents)}")


def _check_template(template: str | None, *, smoke_test: bool) -> None:
    if template not in (None, TEMPLATE):
        raise WrongUsage(f"--template: there is no {template} here", hint=f"--template {TEMPLATE}")
    if smoke_test:
        raise WrongUsage(
            "--smoke-test is not done by create",
            hint='agentengine dev up, then agentengine invoke "Hello" --user-id me',
        )


def _model(
    llm: Llm, model: str | None, base_url: str | None, auth_header: str | None
) -> dict[str, Any]:
    """Return the choice of a language model, if it is whole and makes sense."""
    given = {"--llm-model": model, "--llm-base-url": base_url, "--llm-auth-header": auth_header}
    unused = [option for option, value in given.items() if value is not None]
    if unused and not llm.needs_key:
        raise WrongUsage(f"{', '.join(unused)}: needs --llm with a provider, not {llm.value}")
    if auth_header not in (None, *AUTH_HEADERS):
        raise WrongUsage(f"--llm-auth-header: expected {' or '.join(AUTH_HEADERS)}")
    if llm is Llm.GEMINI and (base_url or auth_header):
        raise WrongUsage("--llm gemini takes neither --llm-base-url nor --llm-auth-header")
    if llm.is_elsewhere and base_url is None:
        raise WrongUsage(f"--llm {llm.value} needs --llm-base-url")
    if llm.needs_key and model is None and llm not in MODELS:
        raise WrongUsage(f"--llm {llm.value} needs --llm-model")
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise WrongUsage("--llm-base-url: expected an address, http:// or https://")
    base_url = base_url or (OPENROUTER_URL if llm is Llm.OPENROUTER else None)
    return {"llm": llm, "model": model, "base_url": base_url, "auth_header": auth_header}


def _key(context: CliContext, llm: Llm, *, yes: bool) -> str | None:
    """Return the model's key from the environment; without it the line in .env stays empty."""
    if not llm.needs_key:
        return None
    key = context.environ.get(KEY, "").strip()
    if any(not char.isprintable() for char in key):
        raise CliError(f"{KEY} in the environment holds a line break", code="INVALID_KEY")
    if not key and yes:
        raise CliError(
            f"--llm {llm.value} needs a key, and {KEY} is not in the environment",
            hint=f"{KEY}=... agentengine create ...; or --llm local, which needs none",
            code="KEY_MISSING",
        )
    return key or None


def _asked_name(context: CliContext, *, yes: bool) -> str:
    if yes or not (context.is_interactive and sys.stdout.isatty()):
        raise WrongUsage("--name is missing", hint="agentengine create --name NAME")
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


def _write(target: Path, files: Mapping[str, str]) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CliError(
            f"{target} exists and is not empty; nothing was written",
            hint="Choose another place with --dir",
            code="TARGET_NOT_EMPTY",
        )
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=PRIVATE if name == ".env" else PUBLIC)
        path.write_text(text, encoding="utf-8")


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


def _report(
    context: CliContext, name: str, target: Path, files: Mapping[str, str], *, under_git: bool
) -> None:
    agent = next((path for path in files if path.endswith("/agent.yaml")), None)
    report = {"name": name, "dir": str(target), "memory_only": agent is None, "files": [*files]}
    if context.output.as_json:
        context.output.document(report | {"git": under_git})
        return
    context.output.result(f"Created {target}")
    if not slug(name):
        context.output.note(f"The name has no letter from a to z and no digit: {target.name} it is")
    if agent is None:
        context.output.hint(f"cd {shlex.quote(str(target))}")
        context.output.hint("agentengine memory configure, then agentengine memory apply --wait")
        context.output.hint(
            "It needs no key as it is; project-config.yaml says how to use a provider"
        )
        return
    context.output.hint(f"cd {shlex.quote(str((target / agent).parent))}")
    context.output.hint('agentengine dev up, then agentengine invoke "Hello" --user-id me')
    if f"{KEY}=\n" in files[".env"]:
        context.output.hint(f"First write the key behind {KEY}= in {target / '.env'}")
