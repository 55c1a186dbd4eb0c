import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentengine_cli.commands.completion import VARIABLE
from tests.unit.agentengine_cli.conftest import Cli


@pytest.mark.parametrize(
    ("shell", "sign"),
    [
        ("bash", "complete -o default"),
        ("zsh", "#compdef agentengine"),
        ("fish", "complete --command agentengine"),
        ("powershell", "Register-ArgumentCompleter"),
    ],
)
def test_every_shell_gets_its_script(cli: Cli, home: Path, shell: str, sign: str) -> None:
    ran = cli("completion", shell)

    assert (ran.code, ran.err) == (0, "")
    assert sign in ran.out
    assert VARIABLE not in os.environ


def test_the_script_of_bash_can_be_read_by_bash(cli: Cli, home: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    script = cli("completion", "bash").out

    subprocess.run([bash, "-n"], input=script, text=True, check=True)  # noqa: S603 - our script


def test_a_shell_that_asks_gets_commands_and_not_a_run(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {VARIABLE: "complete_bash", "COMP_WORDS": "agentengine memory i", "COMP_CWORD": "2"}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)

    ran = cli(environ=asked)

    assert (ran.code, ran.out) == (0, "import\n")


@pytest.mark.parametrize(
    ("shell", "plain"),
    [("fish", "import"), ("zsh", "_arguments '*: :((\"import\"))'")],
)
def test_descriptions_can_be_left_out(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, shell: str, plain: str
) -> None:
    script = cli("completion", shell, "--no-descriptions").out
    assert "AGENTENGINE_COMPLETION_PLAIN" in script
    asked = {
        VARIABLE: f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "agentengine memory imp",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "AGENTENGINE_COMPLETION_PLAIN": "1",
    }
    for name, value in asked.items():
        monkeypatch.setenv(name, value)

    assert cli(environ=asked).out.strip() == plain


def test_without_a_shell_the_shells_are_named_in_one_line(cli: Cli, home: Path) -> None:
    ran = cli("completion", "-q")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0] == "Error: Name a shell: bash, zsh, fish, powershell"


def test_an_unknown_shell_is_wrong_usage(cli: Cli, home: Path) -> None:
    assert cli("completion", "tcsh").code == 2
