"""What `--type` may name, asked of a real server that has a type of its own."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memory_server.app import create_app
from memory_server.settings import from_environment
from tests.integration.control.remote.conftest import OWNER_TOKEN, Remote
from tests.listening import listening
from tests.unit.agentengine_cli.conftest import Cli, Ran

CONFIG = """{"custom_memory_types": [
  {"name": "ticket", "collection": "tickets", "tags": [{"name": "plant"}]}
]}"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    directory: Path = tmp_path_factory.mktemp("types")
    (directory / "owner-token").write_text(OWNER_TOKEN)
    (directory / "config.json").write_text(CONFIG)
    settings = from_environment(
        {
            "AGENTENGINE_DATA_DIR": str(directory / "data"),
            "AGENTENGINE_MEMORY_CONFIG": str(directory / "config.json"),
            "AGENTENGINE_OWNER_TOKEN_FILE": str(directory / "owner-token"),
        }
    )
    with listening(create_app(settings)) as url:
        body = {"content": "the pump leaks", "tags": {"plant": "north"}}
        httpx.post(f"{url}/api/v1/memory/types/ticket", json=body).raise_for_status()
        yield Remote(url)


def search(cli: Cli, remote: Remote, *words: str) -> Ran:
    return cli("memory", "search", "pump", *words, *remote.project(), environ=remote.owner)


def test_a_type_of_ones_own_is_searched(cli: Cli, remote: Remote) -> None:
    found = search(cli, remote, "--type", "ticket", "--json").json

    assert [(one["source"], one["content"]) for one in found["memories"]] == [
        ("ticket", "the pump leaks")
    ]
    assert "ticket: the pump leaks" in search(cli, remote, "--type", "ticket").out


def test_its_records_are_the_callers_own(cli: Cli, remote: Remote) -> None:
    refused = search(cli, remote, "--type", "ticket", "--user-id", "ana")

    assert (refused.code, "searched for whoever asks" in refused.err) == (2, True)
    assert "memory show --user-id ana --type ticket" in refused.err


@pytest.mark.parametrize("name", ["nope", "a/b", "no pe"])
def test_a_name_no_type_has_is_told_alike(cli: Cli, remote: Remote, name: str) -> None:
    asked = ("--user-id", "ana", "--type", name, "--json")

    sought = search(cli, remote, *asked)
    shown = cli("memory", "show", *asked, *remote.project(), environ=remote.owner)

    assert sought.code == shown.code == 1
    assert sought.error == shown.error
    assert sought.error["message"] == f"--type: no type of memory is named {name!r}"


@pytest.mark.parametrize("command", [("search", "pump"), ("show", "--user-id", "ana")])
def test_a_blank_type_is_wrong_usage(cli: Cli, remote: Remote, command: tuple[str, ...]) -> None:
    assert cli("memory", *command, "--type", " ", *remote.project()).code == 2
