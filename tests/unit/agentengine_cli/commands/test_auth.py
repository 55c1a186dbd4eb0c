from pathlib import Path

from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.stand_in import OWNER_TOKEN, StandIn


def test_without_anything_there_are_no_credentials_and_no_directory_context(
    cli: Cli, home: Path
) -> None:
    found = cli("auth", "status", "--json")

    assert found.code == 0
    assert set(found.json) == {"auth", "command_defaults", "directory_context"}
    assert found.json["auth"]["kind"] == "none"
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
    }


def test_a_pinned_directory_shows_its_context(cli: Cli, home: Path) -> None:
    (home / ".agentengine").mkdir()
    (home / "agent.yaml").touch()
    (home / ".agentengine" / "state.json").write_text('{"context_id": "ctx_1"}')

    assert cli("auth", "status", "--json").json["directory_context"]["id"] == "ctx_1"


def test_a_login_is_not_needed_here_and_not_possible_elsewhere(cli: Cli, home: Path) -> None:
    assert cli("auth", "login", "--base-url", "http://127.0.0.1:8080").code == 0
    assert cli("auth", "login", "--base-url", "https://example.org").code == 1
