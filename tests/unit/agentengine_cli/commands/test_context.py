import json
from pathlib import Path

import pytest

from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.logged_in import URL, a_login, keep

WHERE = ("--base-url", URL, "--org-id", "o", "--project-id", "p")
OTHER = "https://other.example.com"


@pytest.fixture
def agent(home: Path) -> Path:
    """An agent's directory, two levels above where commands are called."""
    (home / "agents" / "a" / "src").mkdir(parents=True)
    (home / "agents" / "a" / "agent.yaml").touch()
    return home / "agents" / "a"


def create(cli: Cli, *names: str) -> None:
    for name in names:
        assert cli("context", "create", name, *WHERE).code == 0


def pinned(cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(agent / "src")
    create(cli, "work", "home")
    assert cli("context", "pin", name).code == 0


def test_a_context_is_saved_for_its_owner_only_and_its_id_is_internal(cli: Cli, home: Path) -> None:
    made = cli("context", "create", "My work", *WHERE, "--json")

    path = home / ".agentengine" / "contexts.json"
    (kept,) = json.loads(path.read_text())["contexts"]
    assert made.json == {"name": "My work", "base_url": URL, "org_id": "o", "project_id": "p"}
    assert kept["id"].startswith("ctx_")
    assert path.stat().st_mode & 0o777 == 0o600
    assert kept["id"] not in cli("context", "list", "--json").out


def test_a_name_is_never_bound_to_something_else(cli: Cli) -> None:
    create(cli, "work")

    ran = cli("context", "create", "work", "--base-url", OTHER, "--project-id", "q", "--json")

    assert (ran.code, ran.error["code"]) == (1, "CONTEXT_EXISTS")
    assert 'agentengine context delete "work"' in ran.error["hint"]
    assert [saved["base_url"] for saved in cli("context", "list", "--json").json["contexts"]] == [
        URL
    ]


@pytest.mark.parametrize("name", ["ctx_1", " work", "two\nlines", "x" * 129])
def test_a_name_that_could_not_be_typed_is_wrong_usage(cli: Cli, name: str) -> None:
    assert cli("context", "create", name, *WHERE).code == 2


def test_what_is_not_named_comes_from_the_login(cli: Cli, home: Path) -> None:
    keep(home, a_login())

    made = cli("context", "create", "work", "--json").json

    assert made == {"name": "work", "base_url": URL, "org_id": "o", "project_id": "p"}


def test_logged_in_to_several_platforms_one_has_to_be_named(cli: Cli, home: Path) -> None:
    keep(home, a_login(), a_login(base_url=OTHER))

    ran = cli("context", "create", "work")

    assert (ran.code, "--base-url is needed" in ran.err) == (2, True)
    assert OTHER in ran.err


def test_a_login_of_no_project_does_not_guess_one(cli: Cli, home: Path) -> None:
    keep(home, a_login(project_id=None, kind="owner"))

    ran = cli("context", "create", "work")

    assert (ran.code, "agentengine project list" in ran.err) == (2, True)


def test_the_list_marks_the_pinned_one(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned(cli, agent, monkeypatch, "home")

    lines = cli("context", "list").out.splitlines()

    assert [line[0] for line in lines[1:]] == [" ", "*"]
    marks = {c["name"]: c["pinned"] for c in cli("context", "list", "--json").json["contexts"]}
    assert marks == {"work": False, "home": True}


def test_the_first_pin_is_silent_and_keeps_what_else_the_directory_knows(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (agent / ".agentengine").mkdir()
    state = agent / ".agentengine" / "state.json"
    state.write_text('{"workspace_id": "w"}')

    pinned(cli, agent, monkeypatch, "work")

    assert json.loads(state.read_text())["workspace_id"] == "w"
    assert json.loads(state.read_text())["context_id"].startswith("ctx_")
    assert (agent / ".agentengine" / ".gitignore").read_text() == "*\n"


def test_nobody_pins_anew_without_being_asked(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned(cli, agent, monkeypatch, "work")

    refused = cli("context", "pin", "home")

    assert (refused.code, "--yes" in refused.err, '"work"' in refused.err) == (1, True, True)
    assert cli("context", "pin", "work").code == 0
    assert cli("context", "pin", "home", "--yes").code == 0
    assert cli("context", "current", "--json").json["name"] == "home"


def test_a_pin_needs_an_agents_directory(cli: Cli) -> None:
    create(cli, "work")

    ran = cli("context", "pin", "work", "--json")

    assert ran.code == 1
    assert ran.error["message"] == "no agent.yaml found in current directory or any parent"


def test_current_says_which_and_why_and_fails_if_there_is_none(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = cli("context", "current", "--json")
    pinned(cli, agent, monkeypatch, "work")

    assert (none.code, none.error["code"]) == (1, "NO_CONTEXT")
    assert cli("context", "current", "--json").json["tier"] == "directory pin"
    named = cli("context", "current", "--context", "home", "--json").json
    assert (named["name"], named["tier"]) == ("home", "flag")


def test_a_pin_to_a_deleted_context_is_no_context(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned(cli, agent, monkeypatch, "work")

    deleted = cli("context", "delete", "work", "--yes")

    assert "still pinned" in deleted.err
    assert cli("context", "current").code == 1


@pytest.mark.parametrize("json_option", [(), ("--json",)], ids=["plain", "json"])
def test_nothing_is_deleted_without_yes(cli: Cli, json_option: tuple[str, ...]) -> None:
    create(cli, "work")

    refused = cli("context", "delete", "work", *json_option)
    done = cli("context", "delete", "work", "--yes", *json_option)

    assert (refused.code, "--yes" in refused.err) == (1, True)
    assert (done.code, cli("context", "list", "--json").json["total"]) == (0, 0)


def test_an_internal_id_is_not_a_name(cli: Cli, home: Path) -> None:
    create(cli, "work")
    (kept,) = json.loads((home / ".agentengine" / "contexts.json").read_text())["contexts"]

    ran = cli("context", "current", "--context", kept["id"], "--json")

    assert (ran.code, ran.error["message"]) == (1, f'context "{kept["id"]}" not found')
    assert ran.error["hint"] == "Use its name, not its id: work"


def test_a_damaged_file_is_told_and_kept(cli: Cli, home: Path) -> None:
    (home / ".agentengine").mkdir()
    path = home / ".agentengine" / "contexts.json"
    path.write_text('{"contexts": [{"name": "work"}]}')

    ran = cli("context", "create", "other", *WHERE, "--json")

    assert (ran.code, ran.error["code"]) == (1, "STATE_DAMAGED")
    assert path.read_text() == '{"contexts": [{"name": "work"}]}'


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "Name the project"),
        (("--project-id", "p"), "incomplete explicit target"),
        (("--context", "work", "--project-id", "p"), "exclude each other"),
    ],
)
def test_init_needs_one_whole_target(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reason: str
) -> None:
    monkeypatch.chdir(agent)
    create(cli, "work")

    ran = cli("init", *arguments)

    assert (ran.code, reason in ran.err) == (2, True)


def test_init_binds_a_directory_to_a_saved_context(
    cli: Cli, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(agent)
    create(cli, "work")

    assert cli("init", "--context", "work").code == 0
    assert cli("context", "current", "--json").json["name"] == "work"


def test_init_outside_of_an_agents_directory_says_what_is_missing(cli: Cli) -> None:
    ran = cli("init", "--context", "work", "--json")

    assert ran.error["message"] == "no agent.yaml found in current directory or any parent"
