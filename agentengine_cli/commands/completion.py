"""completion: the script that lets a shell complete our commands."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated

import typer

from agentengine_cli.context import current
from agentengine_cli.errors import WrongUsage

VARIABLE = "_AGENTENGINE_COMPLETE"
"""Set by the shell when it asks; Typer answers instead of running a command."""
PLAIN_VARIABLE = "AGENTENGINE_COMPLETION_PLAIN"
_DESCRIPTIONS = re.compile(r'(?m)\t.*$|:::.*$|(?<="):"[^"\n]*"')


class Shell(StrEnum):
    """The shells there are scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def register(root: typer.Typer) -> None:
    """Add the command."""
    root.command("completion")(completion)


def completion(
    ctx: typer.Context,
    shell: Annotated[
        Shell | None, typer.Argument(help="For which shell.", show_default=False)
    ] = None,
    no_descriptions: Annotated[
        bool, typer.Option("--no-descriptions", help="Complete names only.")
    ] = False,
) -> None:
    """Print the script that completes commands and options.

    source <(agentengine completion bash)
    """
    if shell is None:
        names = ", ".join(Shell)
        raise WrongUsage(f"Name a shell: {names}", hint="agentengine completion bash")
    script = _script(shell)
    if no_descriptions and shell is Shell.POWERSHELL:
        script = f'$Env:{PLAIN_VARIABLE} = "1"\n{script}'
    elif no_descriptions:
        script = script.replace(f"{VARIABLE}=", f"{PLAIN_VARIABLE}=1 {VARIABLE}=")
    current(ctx).output.result(script)


def _script(shell: Shell) -> str:
    """Return what Typer answers to a shell that asks for its script."""
    app = typer.Typer(add_completion=True)
    app.command()(_nothing)
    written = io.StringIO()
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = f"source_{shell}"
    try:
        with contextlib.redirect_stdout(written), contextlib.suppress(SystemExit):
            app([], prog_name="agentengine", complete_var=VARIABLE)
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
    return written.getvalue().strip()


def _nothing() -> None:
    pass


def answered(environ: Mapping[str, str], answer: Callable[[], None]) -> None:
    """Let Typer answer a shell, without descriptions if the script asked for none."""
    if not environ.get(PLAIN_VARIABLE):
        answer()
        return
    written = io.StringIO()
    try:
        with contextlib.redirect_stdout(written):
            answer()
    finally:
        sys.stdout.write(_DESCRIPTIONS.sub("", written.getvalue()))
