import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.control.remote.conftest import OWNER_TOKEN, Person, Remote, log_in
from tests.unit.agentengine_cli.conftest import Cli

PAST = "2020-01-01T00:00:00+00:00"


def kept(home: Path, name: str = ".agentengine/auth.json") -> dict[str, Any]:
    """Return the one login that is kept."""
    ((login,),) = json.loads((home / name).read_text())["logins"].values()
    return dict(login)


def age(home: Path, **changes: str) -> None:
    """Have the kept access token end in the past, as an hour does."""
    path = home / ".agentengine" / "auth.json"
    document = json.loads(path.read_text())
    for (login,) in document["logins"].values():
        login.update({"expires_at": PAST, **changes})
    path.write_text(json.dumps(document))


def test_a_login_is_kept_for_its_owner_only_and_no_token_is_shown(
    cli: Cli, remote: Remote, ana: Person, home: Path
) -> None:
    shown = cli("auth", "status", "--json")
    login = kept(home)

    assert shown.json["auth"]["id"] == ana.name
    assert (home / ".agentengine" / "auth.json").stat().st_mode & 0o777 == 0o600
    assert (home / ".agentengine").stat().st_mode & 0o777 == 0o700
    assert login["access_token"] not in shown.out + shown.err
    assert login["refresh_token"] not in shown.out + shown.err


@pytest.mark.parametrize("level", ["debug", "info"])
def test_neither_password_nor_tokens_reach_the_log(
    cli: Cli, remote: Remote, ana: Person, home: Path, level: str
) -> None:
    options = ("--base-url", remote.url, "--username", ana.name, "--log-level", level)
    cli("auth", "login", *options, environ={"AGENTENGINE_PASSWORD": ana.password})

    log = (home / "state/agentengine/agentengine.log").read_text()
    login = kept(home)
    assert [s for s in (ana.password, *login.values()) if s and f"{s}" in log and len(s) > 30] == []


def test_a_wrong_password_is_refused_and_nothing_is_kept(
    cli: Cli, remote: Remote, home: Path
) -> None:
    options = ("--base-url", remote.url, "--username", "nobody", "--password-stdin", "--json")

    ran = cli("auth", "login", *options, stdin=b"wrong")

    assert (ran.code, ran.error["code"]) == (1, "LOGIN_REFUSED")
    assert not (home / ".agentengine" / "auth.json").exists()


def test_an_ended_access_token_is_renewed_by_itself(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    age(home)
    before = kept(home)

    assert cli("memory", "jobs", *remote.project(project)).code == 0

    after = kept(home)
    assert after["expires_at"] != PAST
    assert after["refresh_token"] != before["refresh_token"]
    assert after["logged_in_at"] == before["logged_in_at"]


def test_a_token_the_server_refuses_is_renewed_too(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    age(home, expires_at="2999-01-01T00:00:00+00:00", access_token="no.token.any.more")

    assert cli("memory", "jobs", *remote.project(project)).code == 0


def test_commands_at_once_do_not_lose_the_rotating_refresh_token(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    age(home)
    command = [sys.executable, "-m", "agentengine_cli", "memory", "jobs", *remote.project(project)]
    environ = {**os.environ, "HOME": str(home), "AGENTENGINE_NO_LOG": "1"}

    running = [
        subprocess.Popen(command, env=environ, stderr=subprocess.PIPE)  # noqa: S603 - ours
        for _ in range(4)
    ]
    said = [process.communicate()[1] for process in running]

    assert [process.returncode for process in running] == [0, 0, 0, 0], said
    age(home)
    assert cli("memory", "jobs", *remote.project(project)).code == 0


def test_a_login_that_cannot_be_renewed_says_how_to_log_in(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    age(home, refresh_token="used-up")

    ran = cli("memory", "jobs", *remote.project(project), "--json")

    assert (ran.code, ran.error["code"]) == (1, "LOGIN_ENDED")
    assert f"agentengine auth login --base-url {remote.url}" in ran.error["hint"]


def test_a_refresh_token_logs_in_and_ends_with_it(
    cli: Cli, remote: Remote, ana: Person, home: Path
) -> None:
    refresh = {"AGENTENGINE_REFRESH_TOKEN": kept(home)["refresh_token"]}
    options = ("--base-url", remote.url, "--from-refresh-token")

    first = cli("auth", "login", *options, environ=refresh)
    second = cli("auth", "login", *options, environ=refresh)

    assert (first.code, second.code) == (0, 1)
    assert f"id: {ana.name}" in first.out


def test_the_file_of_tokens_may_be_elsewhere(
    cli: Cli, remote: Remote, ana: Person, home: Path
) -> None:
    options = ("--base-url", remote.url, "--username", ana.name)
    cli(
        "auth",
        "login",
        *options,
        environ={"AGENTIC_AUTH_FILE": "tokens/mine.json", "AGENTIC_PASSWORD": ana.password},
    )

    assert kept(home, "tokens/mine.json")["id"] == ana.name


def test_the_owner_token_can_be_kept_as_a_login(cli: Cli, remote: Remote) -> None:
    options = ("--base-url", remote.url, "--owner-token-stdin")

    assert cli("auth", "login", *options, stdin=b"not-it").code == 1
    assert "kind: owner" in cli("auth", "login", *options, stdin=OWNER_TOKEN.encode()).out
    assert cli("project", "list").code == 0


def test_somebody_else_s_token_is_no_owner_token(
    cli: Cli, remote: Remote, ana: Person, home: Path
) -> None:
    token = kept(home)["access_token"]

    ran = cli(
        "auth", "login", "--base-url", remote.url, "--owner-token-stdin", stdin=token.encode()
    )

    assert ran.code == 1
    assert "it is the token of a person" in ran.err


def test_logging_out_ends_the_login_at_the_server_too(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    path = home / ".agentengine" / "auth.json"
    stolen = path.read_text()

    said = cli("auth", "logout")
    path.write_text(stolen)

    assert f"logged out: {ana.name}" in said.out
    assert cli("memory", "jobs", *remote.project(project)).code == 1


def test_a_person_of_two_projects_is_logged_in_to_both(
    cli: Cli, remote: Remote, ana: Person, project: str
) -> None:
    second = cli("project", "create", "Second", "--json", environ=remote.owner).json["id"]
    options = ("--role", "PROJECT_OWNER", "--project-id", second, "--json")
    made = cli("project", "member", "add", ana.name, *options, environ=remote.owner).json
    log_in(cli, remote, Person(ana.name, made["password"]))

    assert cli("memory", "jobs", *remote.project(project)).code == 0
    assert cli("memory", "jobs", *remote.project(second)).code == 0


def test_a_project_nobody_is_logged_in_for_is_told_beside_the_one_somebody_is(
    cli: Cli, remote: Remote, project: str, ana: Person
) -> None:
    ran = cli("memory", "jobs", *remote.project("other"), "--json")

    assert (ran.code, ran.error["code"]) == (1, "NOT_LOGGED_IN")
    assert f"for project other; you are for {project}" in ran.error["message"]
    assert ran.error["hint"].endswith("--project-id other")
