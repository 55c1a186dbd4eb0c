"""The README's first screen is true."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentengine_cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> Iterator[list[str]]:
    for line in re.findall(r"^agentengine [^\n]*", README, re.MULTILINE):
        words = re.sub(r"\s+#.*$", "", line).split("&&")[0].split()[1:]
        yield [word for word in words if not word.startswith(("-", '"', "turns"))]


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_commands_of_the_readme_exist(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    known = [word for word in command if word.islower() and word != "ana"]

    assert main([*known[:2], "--help"]) == 0


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert "make test" in script.splitlines()
    assert "make test" in README
