from pathlib import Path
from typing import Any

import pytest

from agentengine_cli.commands import service_account
from memory_server.services import service_accounts
from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.control.manual_clock import ManualClock
from tests.unit.agentengine_cli.stand_in import CLIENT_ID, OWNER_TOKEN, SECRET, StandIn

CREATE = ("service-account", "create", "ci", "--role", "AGENT_DEVELOPER")


def test_a_new_account_is_told_with_its_secret_and_how_it_becomes_a_token(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    ran = cli(*CREATE, "--secret-expires-in", "24h", "--description", "for CI")

    assert f"client_secret: {SECRET}\n" in ran.out
    assert "/api/v1/oauth/token" in ran.err
    assert SECRET not in ran.err
    assert server.bodies[0] == {
        "name": "ci",
        "description": "for CI",
        "roles": ["AGENT_DEVELOPER"],
        "secret_expires_after_hours": 24,
    }


def test_as_json_it_is_the_servers_document(cli: Cli, stack: Path) -> None:
    made = cli(*CREATE, "--json").json

    assert made["client_secret"] == SECRET
    assert made["service_account"]["client_id"] == CLIENT_ID


def test_the_secret_never_reaches_the_log(cli: Cli, stack: Path) -> None:
    cli(*CREATE, "--log-level", "debug")

    assert SECRET not in (stack / "state/agentengine/agentengine.log").read_text()


def test_an_older_spelling_of_a_role_is_taken_with_a_warning(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    ran = cli("service-account", "create", "ci", "--role", "PROJECT_MEMBER")

    assert ran.code == 0
    assert "PROJECT_MEMBER is an older spelling of PROJECT_READ_ONLY" in ran.err
    assert server.bodies[0]["roles"] == ["PROJECT_READ_ONLY"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        pytest.param(("--role", "ADMIN"), "expected one of PROJECT_OWNER", id="unknown"),
        pytest.param(("--role", "ORG_ADMIN"), "is an organization's", id="organization"),
        pytest.param(("--secret-expires-in", "90m"), "whole number of hours", id="minutes"),
        pytest.param(("--secret-expires-in", "soon"), "is not a span of time", id="no-span"),
        pytest.param(("--ip-access-list", "10.0.0.1,nowhere"), "nowhere", id="address"),
        pytest.param(("--project-id", "p", "--org-id", "o"), "exclude each other", id="two-ids"),
        pytest.param(("--org-id", "o"), "is a project's", id="role-of-a-project"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(
    cli: Cli, stack: Path, server: StandIn, options: tuple[str, ...], reason: str
) -> None:
    ran = cli(*CREATE, *options)

    assert (ran.code, server.seen) == (2, [])
    assert reason in ran.err


def test_the_addresses_it_may_call_from_are_set_with_it(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    made = cli(*CREATE, "--ip-access-list", "10.0.0.1, 10.1.0.0/16", "--json").json

    assert made["service_account"]["ip_access_list"] == ["10.0.0.1", "10.1.0.0/16"]
    assert server.bodies[-1] == {"ip_access_list": ["10.0.0.1", "10.1.0.0/16"]}


def test_an_account_whose_addresses_cannot_be_set_is_not_left_behind(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    ran = cli(*CREATE, "--ip-access-list", "10.9.9.9")

    assert (ran.code, server.accounts) == (1, {})
    assert SECRET not in ran.out + ran.err


def test_accounts_are_listed_without_secrets(cli: Cli, stack: Path) -> None:
    cli(*CREATE)

    ran = cli("service-account", "list", "--json")

    assert ran.json["total"] == 1
    assert ran.json["service_accounts"][0]["client_id"] == CLIENT_ID
    assert CLIENT_ID in cli("service-account", "list").out


def test_a_rotated_account_shows_its_new_secret(cli: Cli, stack: Path) -> None:
    cli(*CREATE)

    assert cli("service-account", "rotate", CLIENT_ID, "--json").json["client_secret"] == SECRET


@pytest.mark.parametrize(
    ("expires", "until"),
    [
        ("2026-05-05T10:00:00+00:00", "2026-05-05 10:00+00:00"),
        ("2026-08-02T10:00:00+00:00", "2026-05-11 03:02+00:00"),
        (None, "2026-05-11 03:02+00:00"),
    ],
)
def test_the_former_secret_lives_for_its_grace_or_until_it_expires(
    expires: str | None, until: str
) -> None:
    former: Any = {"client_id": CLIENT_ID, "secret_expires_at": expires}

    assert service_account.former_until(former, ManualClock()) == until


def test_a_rotation_says_until_when_the_former_secret_is_taken(cli: Cli, stack: Path) -> None:
    cli(*CREATE)

    assert (
        "The former secret stays valid until 2" in cli("service-account", "rotate", CLIENT_ID).err
    )


def test_the_grace_of_a_rotation_is_the_servers() -> None:
    assert service_account.ROTATION_GRACE == service_accounts.ROTATION_GRACE


def test_a_deletion_says_that_it_holds_at_once(cli: Cli, stack: Path) -> None:
    cli(*CREATE)

    assert "refused from now on" in cli("service-account", "delete", CLIENT_ID).err


def test_a_deleted_account_is_gone(cli: Cli, stack: Path) -> None:
    cli(*CREATE)

    deleted = cli("service-account", "delete", CLIENT_ID, "--json")
    got = cli("service-account", "get", CLIENT_ID, "--json")

    assert deleted.json == {"client_id": CLIENT_ID, "deleted": True}
    assert (got.code, got.error["code"]) == (1, "SERVICE_ACCOUNT_NOT_FOUND")


def test_another_server_needs_a_login(cli: Cli, stack: Path, server: StandIn) -> None:
    where = ("--base-url", server.url + "/x", "--project-id", "p")

    ran = cli("service-account", "list", *where, "--json")

    assert (ran.code, ran.error["code"]) == (1, "NOT_LOGGED_IN")
    assert f"agentengine auth login --base-url {server.url}/x" in ran.error["hint"]


def test_the_local_stack_named_in_full_is_still_the_local_stack(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    where = ("--base-url", server.url, "--project-id", "local")

    assert cli("service-account", "list", *where).code == 0
    assert server.seen[-1][2] == f"Bearer {OWNER_TOKEN}"
