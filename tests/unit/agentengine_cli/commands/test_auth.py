import json
from pathlib import Path

import pytest

from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.logged_in import URL, a_login, keep
from tests.unit.agentengine_cli.stand_in import OWNER_TOKEN, StandIn


def test_without_anything_there_are_no_credentials_and_no_directory_context(
    cli: Cli, home: Path
) -> None:
    found = cli("auth", "status", "--json")

    assert found.code == 0
    assert set(found.json) == {"auth", "command_defaults", "directory_context"}
    assert (found.json["auth"]["kind"], found.json["auth"]["logins"]) == ("none", [])
    assert "directory_context: none found" in cli("auth", "status").out


def test_in_a_running_stack_its_owner_token_is_used_and_not_shown(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    found = cli("auth", "status", "--json")

    assert found.json["auth"]["kind"] == "owner_token"
    assert OWNER_TOKEN not in found.out
    assert server.seen == []


def test_a_service_account_of_the_environment_comes_first(cli: Cli, stack: Path) -> None:
    found = cli("auth", "status", "--json", environ={"AGENTIC_CLIENT_ID": "ae_sa_id_9"}).json

    assert found["auth"] == {
        "kind": "service_account",
        "client_id": "ae_sa_id_9",
        "secret_found": False,
        "logins": [],
    }


def test_the_only_login_is_what_a_command_may_use_and_says_until_when(cli: Cli, home: Path) -> None:
    keep(home, a_login(expires_at="2020-01-01T00:00:00+00:00"))

    found = cli("auth", "status", "--json").json

    assert (found["auth"]["kind"], found["auth"]["id"]) == ("login", "ana")
    assert (found["auth"]["logins"][0]["expired"], found["command_defaults"]["project_id"]) == (
        True,
        "p",
    )
    said = cli("auth", "status").out
    assert f"login: ana (person, PROJECT_OWNER) at {URL}, project p, renewed when used" in said


def test_a_pinned_directory_shows_its_context_and_whose_login_it_uses(cli: Cli, home: Path) -> None:
    (home / "agent.yaml").touch()
    keep(home, a_login())
    cli("context", "create", "work")
    cli("context", "pin", "work")

    found = cli("auth", "status", "--json").json

    assert found["directory_context"]["name"] == "work"
    assert (found["auth"]["kind"], found["auth"]["project_id"]) == ("login", "p")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--password-stdin",), "needs --username"),
        (("--username", "ana", "--from-refresh-token"), "exclude each other"),
        (("--from-refresh-token", "--owner-token-stdin"), "exclude each other"),
        (("--username", "ana", "--timeout", "soon"), "is not a span of time"),
        (("--username", "ana", "--base-url", "example.com"), "is no address"),
        ((), "No server is named"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(
    cli: Cli, home: Path, options: tuple[str, ...], reason: str
) -> None:
    ran = cli("auth", "login", *options)

    assert (ran.code, reason in ran.err) == (2, True)


@pytest.mark.parametrize(
    "options",
    [(), ("--no-browser",), ("--callback-port", "8123"), ("--username", "ana")],
    ids=" ".join,
)
def test_with_nothing_to_log_in_with_the_ways_are_named(
    cli: Cli, home: Path, options: tuple[str, ...]
) -> None:
    ran = cli("auth", "login", "--base-url", URL, *options, "--json")

    assert (ran.code, ran.error["code"]) == (1, "NO_CREDENTIALS")
    assert "--password-stdin" in ran.error["hint"]


def test_a_browser_login_is_told_to_be_none(cli: Cli, home: Path) -> None:
    ran = cli("auth", "login", "--base-url", URL, "--no-browser")

    assert "There is no login by a browser" in ran.err


def test_an_empty_password_is_none(cli: Cli, home: Path) -> None:
    options = ("--base-url", URL, "--username", "ana", "--password-stdin", "--json")

    assert cli("auth", "login", *options, stdin=b"\n").error["code"] == "NO_CREDENTIALS"


def test_in_a_stack_a_login_keeps_its_owner_token_for_other_directories(
    cli: Cli, stack: Path, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("auth", "login", "--json").json["kind"] == "owner"
    (stack / "elsewhere" / ".git").mkdir(parents=True)
    monkeypatch.chdir(stack / "elsewhere")

    where = ("--base-url", server.url, "--org-id", "local", "--project-id", "local")
    assert cli("memory", "import", "-", *where, stdin=b"{}").code == 1
    kept = json.loads((stack / ".agentengine" / "auth.json").read_text())["logins"]
    assert kept[server.url][0]["access_token"] == OWNER_TOKEN


def test_a_server_that_knows_no_logins_is_too_old(cli: Cli, home: Path, server: StandIn) -> None:
    server.knows_logins = False
    options = ("--base-url", server.url, "--username", "ana", "--password-stdin", "--json")

    ran = cli("auth", "login", *options, stdin=b"pw")

    assert (ran.code, ran.error["code"]) == (1, "SERVER_TOO_OLD")


def test_logging_out_forgets_though_the_server_cannot_be_told(cli: Cli, home: Path) -> None:
    keep(home, a_login(base_url="http://127.0.0.1:1"))

    ran = cli("auth", "logout")

    assert (ran.code, ran.out) == (0, "logged out: ana at http://127.0.0.1:1\n")
    assert "could not be told" in ran.err
    assert cli("auth", "status", "--json").json["auth"]["logins"] == []


def test_only_the_named_server_is_logged_out_of(cli: Cli, home: Path) -> None:
    keep(home, a_login(kind="owner"), a_login(base_url="http://127.0.0.1:1", kind="owner"))

    assert cli("auth", "logout", "--base-url", URL).out == f"logged out: ana at {URL}\n"
    assert "You are not logged in" in cli("auth", "logout", "--base-url", URL).err
    assert len(cli("auth", "status", "--json").json["auth"]["logins"]) == 1


def test_of_several_logins_none_is_ended_unless_one_is_named(cli: Cli, home: Path) -> None:
    keep(home, a_login(kind="owner"), a_login(kind="owner", project_id="q"))

    refused = cli("auth", "logout", "--base-url", URL)
    ended = cli("auth", "logout", "--project-id", "q")

    assert refused.code == 1
    assert f"  - ana at {URL}, project p\n  - ana at {URL}, project q\n" in refused.err
    assert f"auth logout --base-url {URL} --all" in refused.err
    assert (ended.code, ended.out) == (0, f"logged out: ana at {URL}\n")
    [left] = cli("auth", "status", "--json").json["auth"]["logins"]
    assert left["project_id"] == "p"


def test_all_logins_are_ended_when_that_is_said(cli: Cli, home: Path) -> None:
    keep(home, a_login(kind="owner"), a_login(base_url="http://127.0.0.1:1", kind="owner"))

    assert cli("auth", "logout", "--all").out.count("logged out: ana at ") == 2
    assert cli("auth", "status", "--json").json["auth"]["logins"] == []


def test_a_login_over_plain_http_is_warned_about(cli: Cli, home: Path) -> None:
    ran = cli("auth", "login", "--base-url", "http://memory.example.com", "--username", "ana")

    assert "is not encrypted" in ran.err
