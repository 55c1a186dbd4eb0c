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


def _show(ctx: typer.Context, chosen: bool) -> bool:
    if chosen:
        current(ctx).output.result(f"agentengine {installed()}")
        raise typer.Exit
    return chosen


VersionOption = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show, help="Print the version."),
]


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
    found = installed()
    if full:
        output.record(_everything(found))
    elif as_json:
        output.document({"version": found})
    else:
        output.result(f"agentengine {found}")


def installed() -> str | None:
    """Return the version of this program, if it is installed."""
    return _installed(DISTRIBUTION)


def _everything(version: str | None) -> dict[str, Any]:
    return {
        "version": version,
        "commit": _commit(Path(__file__).parents[2]),
        "memory_server": version,
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
