"""version: what is installed."""

import platform
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from agentengine_cli.context import current
from agentengine_cli.options import JsonOption

DISTRIBUTION = "agentengine"
DEPENDENCIES = ("typer", "httpx", "fastapi", "uvicorn", "pydantic", "pydantic-ai-slim")


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command("version")(version)


def version(
    ctx: typer.Context,
    full: Annotated[bool, typer.Option("--full", help="Also what it stands on.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the version.

    agentengine version --full --json
    """
    output = current(ctx).output
    installed = _installed(DISTRIBUTION)
    if full:
        output.record(_everything(installed))
    elif as_json:
        output.document({"version": installed})
    else:
        output.result(f"agentengine {installed}")


def _everything(installed: str | None) -> dict[str, Any]:
    return {
        "version": installed,
        "commit": _commit(Path(__file__).parents[2]),
        "memory_server": installed,
        "registry": None,
        "images": {},
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "dependencies": {name: _installed(name) for name in DEPENDENCIES},
    }


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _commit(checkout: Path) -> str | None:
    """Return the commit of a source checkout; an installed package has none."""
    try:
        head = (checkout / ".git" / "HEAD").read_text(encoding="ascii").strip()
        reference = head.removeprefix("ref: ")
        if reference == head:
            return head
        return (checkout / ".git" / reference).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
