from pathlib import Path

import pytest

from tests.unit.agentengine_cli.conftest import Cli

VALUE = "hush-hush-value"


@pytest.fixture(autouse=True)
def project(home: Path) -> Path:
    (home / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    return home


def test_value_comes_from_stdin_and_is_never_said(cli: Cli) -> None:
    set_ = cli("secret", "set", "LLM_API_KEY", "--stdin", stdin=f"{VALUE}\n".encode())
    listed, in_json = cli("secret", "list"), cli("secret", "list", "--json")

    assert set_.out == "LLM_API_KEY: version 1, project scope\n"
    assert in_json.json["total"] == 1
    assert in_json.json["secrets"][0]["name"] == "LLM_API_KEY"
    assert VALUE not in set_.out + set_.err + listed.out + in_json.out


def test_without_a_value_and_a_terminal_it_is_refused(cli: Cli) -> None:
    ran = cli("secret", "set", "LLM_API_KEY")

    assert ran.code == 1
    assert "--stdin" in ran.err


def test_value_on_the_command_line_works_with_a_warning(cli: Cli) -> None:
    ran = cli("secret", "set", "LLM_API_KEY", VALUE)

    assert ran.code == 0
    assert "shell's history" in ran.err


def test_workspace_scope_is_warned_about_because_memory_does_not_read_it(cli: Cli) -> None:
    ran = cli("secret", "set", "VOYAGE_API_KEY", "--workspace-scope", "--stdin", stdin=b"x")

    assert ran.code == 0
    assert "reads the project scope only and will not find VOYAGE_API_KEY" in ran.err
    assert cli("secret", "list", "--json").json["total"] == 0


def test_both_scopes_are_wrong_usage(cli: Cli) -> None:
    assert cli("secret", "list", "--workspace-scope", "--project-scope").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", VALUE),
        ("set", f"LLM_API_KEY={VALUE}"),
        ("set", VALUE, "LLM_API_KEY"),
        ("set", "LLM_API_KEY", "a", VALUE),
        ("set", "LLM_API_KEY", "--on-empty", VALUE),
        ("set", f"--{VALUE}"),
        ("delete", VALUE),
        ("delete", f"LLM_API_KEY={VALUE}", "--yes"),
    ],
    ids=" ".join,
)
def test_what_may_be_a_value_is_never_said(
    cli: Cli, home: Path, arguments: tuple[str, ...]
) -> None:
    ran = cli("secret", *arguments)

    assert ran.code in {1, 2}
    assert VALUE not in ran.out + ran.err
    assert "not shown, in case it is a value" in ran.err
    assert VALUE not in (home / "state/agentengine/agentengine.log").read_text()


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (f"{VALUE}", "not of the form"),
        (f"'{VALUE}", "not of the form"),
        (f"LLM_API_KEY '{VALUE}'", "not of the form"),
        (f"{VALUE}=1", "not a secret's NAME"),
        ("ORG_ID=1", "reserved"),
    ],
)
@pytest.mark.parametrize("source", ["keys.env", "-"])
def test_bad_line_of_a_file_is_told_by_its_number_and_nothing_is_set(
    cli: Cli, home: Path, bad: str, what: str, source: str
) -> None:
    text = f"A=1\n\n# note\n{bad}\nB=2\n"
    (home / "keys.env").write_text(text)

    ran = cli("secret", "set", "--from-file", source, stdin=text.encode())

    assert ran.code == 1
    assert ":4: " in ran.err
    assert what in ran.err
    assert VALUE not in ran.err
    assert "python-dotenv" not in ran.err
    assert cli("secret", "list", "--json").json["total"] == 0


@pytest.mark.parametrize("name", ["lower", "ORG_ID", "AGENTIC_PLATFORM_X"])
def test_name_that_cannot_be_is_refused(cli: Cli, name: str) -> None:
    assert cli("secret", "set", name, "--stdin", stdin=b"x").code == 1


def test_file_sets_all_its_entries(cli: Cli, home: Path) -> None:
    (home / "keys.env").write_text("A=1\nB='two words'\n")

    ran = cli("secret", "set", "--from-file", "keys.env", "--json")

    assert [secret["name"] for secret in ran.json["secrets"]] == ["A", "B"]


@pytest.mark.parametrize(
    ("option", "code", "kept"),
    [
        pytest.param((), 1, 0, id="refused without a terminal"),
        pytest.param(("--on-empty", "error"), 1, 0, id="error"),
        pytest.param(("--on-empty", "skip"), 0, 1, id="skip"),
        pytest.param(("--on-empty", "warn"), 0, 1, id="warn"),
    ],
)
def test_empty_value_is_never_stored(
    cli: Cli, option: tuple[str, ...], code: int, kept: int
) -> None:
    ran = cli("secret", "set", "--from-file", "-", *option, stdin=b"A=1\nEMPTY=\n")

    assert ran.code == code
    assert ("EMPTY" in ran.err) == (option != ("--on-empty", "skip"))
    assert cli("secret", "list", "--json").json["total"] == kept


def test_value_given_twice_is_wrong_usage(cli: Cli) -> None:
    assert cli("secret", "set", "A", "b", "--stdin", stdin=b"c").code == 2


def test_delete_asks_first_and_says_what_is_not_there(cli: Cli) -> None:
    cli("secret", "set", "A", "--stdin", stdin=b"x")

    assert cli("secret", "delete", "A").code == 1
    assert cli("secret", "delete", "A", "--yes").code == 0
    assert "no secret named A" in cli("secret", "delete", "A", "--yes").err


def test_sync_without_a_running_server_says_when_it_is_read(cli: Cli) -> None:
    ran = cli("secret", "sync")

    assert (ran.code, "when it starts" in ran.out) == (0, True)
