from collections.abc import Mapping
from pathlib import Path

import pytest

from agentengine_cli import credentials
from agentengine_cli.credentials import Credential, Kind, LoginEnded, LoginToken, NoClientSecret
from agentengine_cli.home import user_directory
from tests.unit.agentengine_cli.control.manual_clock import ManualClock
from tests.unit.agentengine_cli.logged_in import URL, a_login, keep

OWNER = {"AGENTENGINE_OWNER_TOKEN": "owner-token"}
ACCOUNT = {"AGENTENGINE_CLIENT_ID": "ae_sa_id_1", "AGENTENGINE_CLIENT_SECRET": "ae_sa_sk_1"}
MEANT = {"AGENTENGINE_API_BASE_URL": f"{URL}/"}
OTHERWISE = {"AGENTENGINE_API_BASE_URL": "https://other.example.com"}


def found(home: Path, environ: Mapping[str, str]) -> Credential | None:
    given = {"HOME": str(home), **environ}
    return credentials.find(
        given,
        base_url=URL,
        project_id="p",
        directory=user_directory(given),
        clock=ManualClock(),
    )


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        (OWNER | ACCOUNT, Kind.OWNER_TOKEN),
        (ACCOUNT, Kind.SERVICE_ACCOUNT),
        ({"AGENTIC_CLIENT_ID": "i", "AGENTIC_CLIENT_SECRET": "s"}, Kind.SERVICE_ACCOUNT),
        (ACCOUNT | MEANT, Kind.SERVICE_ACCOUNT),
        (OWNER | OTHERWISE, Kind.LOGIN),
        ({}, Kind.LOGIN),
    ],
)
def test_the_environment_goes_before_the_login_unless_it_is_for_another_server(
    tmp_path: Path, environ: dict[str, str], kind: Kind
) -> None:
    keep(tmp_path, a_login())

    credential = found(tmp_path, environ)

    assert credential is not None
    assert credential.kind is kind


def test_with_nothing_there_is_nobody_to_speak_as(tmp_path: Path) -> None:
    assert found(tmp_path, {}) is None


def test_a_service_account_without_its_secret_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoClientSecret, match="ae_sa_id_1"):
        found(tmp_path, {"AGENTENGINE_CLIENT_ID": "ae_sa_id_1"})


@pytest.mark.parametrize("environ", [OWNER, ACCOUNT, {}], ids=["owner", "account", "login"])
def test_no_credential_shows_its_token(tmp_path: Path, environ: dict[str, str]) -> None:
    keep(tmp_path, a_login())

    credential = found(tmp_path, environ)

    assert credential is not None
    shown = f"{credential!r} {credential.speaker}"
    assert not any(
        secret in shown for secret in ("owner-token", "ae_sa_sk_1", "the-access", "the-refresh")
    )


async def test_what_another_command_renewed_is_used_and_not_renewed_again(tmp_path: Path) -> None:
    stale = a_login(access_token="stale", expires_at="2020-01-01T00:00:00+00:00")
    directory = user_directory({"HOME": str(tmp_path)})
    keep(tmp_path, a_login(access_token="fresh"))
    credential = LoginToken(login=stale, directory=directory, clock=ManualClock())

    assert await credential.token() == "fresh"


async def test_a_login_that_is_gone_meanwhile_has_ended(tmp_path: Path) -> None:
    stale = a_login(expires_at="2020-01-01T00:00:00+00:00")
    directory = user_directory({"HOME": str(tmp_path)})
    credential = LoginToken(login=stale, directory=directory, clock=ManualClock())

    with pytest.raises(LoginEnded, match=URL):
        await credential.token()
