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


PAGES = [*ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", page.read_text("utf-8")):
        place = page.parent / target if target else page
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), (target, anchor)


def test_every_page_of_the_documentation_is_in_an_index() -> None:
    index = ROOT / "docs" / "howto" / "README.md"
    pages = index.parent.glob("*.md")
    assert {page.name for page in pages} == {*indexed(index, r"([\w-]+\.md)"), index.name}

    others = (ROOT / "docs" / "reference").glob("*.md")
    assert {page.name for page in others} == indexed(
        ROOT / "README.md", r"docs/reference/([\w-]+\.md)"
    )


def indexed(page: Path, target: str) -> set[str]:
    return {*re.findall(rf"\]\({target}\)", page.read_text(encoding="utf-8"))}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert "make test" in script.splitlines()
    assert "make test" in README
