from importlib.metadata import version
from pathlib import Path

from tests.unit.agentengine_cli.conftest import Cli


def test_the_version_is_the_installed_one(cli: Cli, home: Path) -> None:
    assert cli("version").out == f"agentengine {version('agentengine')}\n"
    assert cli("version", "--json").json == {"version": version("agentengine")}


def test_the_full_version_names_what_it_stands_on(cli: Cli, home: Path) -> None:
    full = cli("version", "--full", "--json").json

    assert full["dependencies"]["httpx"] == version("httpx")
    assert full["memory_server"] == version("agentengine")
