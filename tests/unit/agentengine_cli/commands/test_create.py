import subprocess
from pathlib import Path

import pytest

from agentengine_cli.commands.create import slug
from memory_server import project_config
from tests.unit.agentengine_cli.conftest import Cli

CREATE = ("create", "--memory-only", "--name")


def test_a_project_is_scaffolded_under_its_slug(cli: Cli, home: Path) -> None:
    ran = cli(*CREATE, "Ana's Memory", "--json")

    made = home / "ana-s-memory"
    assert ran.json["dir"] == str(made)
    assert (made / "project-config.yaml").read_text() == project_config.scaffold("Ana's Memory")
    assert (made / ".gitignore").read_text() == ".agentengine/\n.env\n"
    assert (made / ".git").is_dir()


def test_what_to_do_next_is_hinted(cli: Cli, home: Path) -> None:
    ran = cli(*CREATE, "x", "--dir", "here")

    assert ran.out == f"Created {home / 'here'}\n"
    assert f"cd {home / 'here'}\n" in ran.err
    assert "agentengine memory configure, then agentengine memory apply --wait" in ran.err


def test_a_name_without_a_usable_letter_says_which_directory_was_chosen(
    cli: Cli, home: Path
) -> None:
    ran = cli(*CREATE, "記憶")

    assert ran.out == f"Created {home / 'memory-project'}\n"
    assert "memory-project it is" in ran.err


def test_no_repository_is_made_inside_another(cli: Cli, home: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True, cwd=home)  # noqa: S607 - git as found

    assert cli(*CREATE, "x", "--json").json["git"] is False


def test_a_directory_that_is_not_empty_is_left_alone(cli: Cli, home: Path) -> None:
    (home / "x").mkdir()
    (home / "x" / "mine").touch()

    ran = cli(*CREATE, "x", "--json")

    assert (ran.code, ran.error["code"]) == (1, "TARGET_NOT_EMPTY")
    assert [path.name for path in (home / "x").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param('a"b', "character 2 is a double quote (U+0022)", id="quote"),
        pytest.param("a\\b", "character 2 is a backslash (U+005C)", id="backslash"),
        pytest.param("ab`", "character 3 is a backtick (U+0060)", id="backtick"),
        pytest.param("a\nb", "character 2 is a control character (U+000A)", id="newline"),
        pytest.param("a\u2028b", "character 2 is a line separator (U+2028)", id="separator"),
        pytest.param("a\u202eb", "bidirectional character (U+202E)", id="bidi"),
        pytest.param("  ", "must not be blank", id="blank"),
        pytest.param("x" * 101, "100 at most", id="long"),
    ],
)
def test_a_name_with_a_character_that_cannot_be_is_refused_by_naming_it(
    cli: Cli, home: Path, name: str, reason: str
) -> None:
    ran = cli(*CREATE, name)

    assert (ran.code, list(home.glob("*/project-config.yaml"))) == (2, [])
    assert reason in ran.err


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Hello World", "hello-world"),
        ("Zoë & Søn", "zoe-sn"),
        ("記憶", ""),
        ("..", ""),
        ("a" * 90, "a" * 60),
    ],
)
def test_a_slug_is_a_safe_directory_name(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param(("--memory-only",), "--name is missing", id="no-name"),
        pytest.param(("--name", "x"), "Only memory-only projects", id="agent"),
        pytest.param(("--memory-only", "--name", "x", "--llm", "openai"), "--llm", id="llm"),
    ],
)
def test_what_is_not_scaffolded_is_refused(
    cli: Cli, home: Path, arguments: tuple[str, ...], reason: str
) -> None:
    ran = cli("create", *arguments)

    assert ran.code == 2
    assert reason in ran.err
