"""One real server for all of these tests, and a user elsewhere with a home of their own."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_server.app import create_app
from memory_server.settings import from_environment
from tests.listening import listening
from tests.unit.agentengine_cli import conftest as command_line
from tests.unit.agentengine_cli.conftest import Cli

home = command_line.home
cli = command_line.cli
OWNER_TOKEN = "the-owner-token-of-these-tests"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Remote:
    """A running server, and how its operator is known to it."""

    url: str

    @property
    def owner(self) -> Mapping[str, str]:
        """The environment of its operator."""
        return {"AGENTENGINE_OWNER_TOKEN": OWNER_TOKEN, "AGENTENGINE_API_BASE_URL": self.url}

    def project(self, project_id: str = "local") -> tuple[str, ...]:
        """The options that name one of its projects in full."""
        return ("--base-url", self.url, "--org-id", "local", "--project-id", project_id)


@dataclass(frozen=True)
class Person:
    """Somebody who is logged in."""

    name: str
    password: str


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    directory: Path = tmp_path_factory.mktemp("elsewhere")
    (directory / "owner-token").write_text(OWNER_TOKEN)
    settings = from_environment(
        {
            "AGENTENGINE_DATA_DIR": str(directory / "data"),
            "AGENTENGINE_OWNER_TOKEN_FILE": str(directory / "owner-token"),
        }
    )
    with listening(create_app(settings)) as url:
        yield Remote(url)


@pytest.fixture
def project(remote: Remote, cli: Cli) -> str:
    """A project no other test has."""
    made = cli(
        "project", "create", f"Project {next(_numbers)}", "--json", environ=remote.owner
    ).json
    return str(made["id"])


def joined(cli: Cli, remote: Remote, project_id: str, role: str) -> Person:
    """Make somebody a member of a project, by its operator."""
    name = f"ana-{next(_numbers)}"
    options = ("--role", role, "--project-id", project_id, "--json")
    made = cli("project", "member", "add", name, *options, environ=remote.owner).json
    return Person(name, made["password"])


def log_in(cli: Cli, remote: Remote, person: Person) -> None:
    options = ("--base-url", remote.url, "--username", person.name, "--password-stdin")
    assert cli("auth", "login", *options, stdin=person.password.encode()).code == 0


@pytest.fixture
def ana(cli: Cli, remote: Remote, project: str) -> Person:
    """An owner of the project, who is logged in."""
    person = joined(cli, remote, project, "PROJECT_OWNER")
    log_in(cli, remote, person)
    return person


@pytest.fixture
def operator(cli: Cli, remote: Remote) -> Person:
    """An owner of the server's own project, who is logged in."""
    person = joined(cli, remote, "local", "PROJECT_OWNER")
    log_in(cli, remote, person)
    return person
