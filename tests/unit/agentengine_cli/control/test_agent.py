from pathlib import Path
from typing import Any

import pytest

from agentengine_cli.agent_file import InvalidAgentFile
from agentengine_cli.control.agent import deliverable
from agentengine_cli.control.environment import KeySources, read_dotenv
from agentengine_cli.control.state import StateDirectory
from agentengine_cli.stack import Stack, find


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project-config.yaml").write_text("memory: {}\n")
    (tmp_path / ".env").write_text("MY_KEY=from-env\nOTHER=x\n")
    agent = tmp_path / "agents" / "a"
    agent.mkdir(parents=True)
    (agent / "agent.yaml").write_text("entrypoint: main:answer\nfeatures: {memory: true}\n")
    return tmp_path


def told(stack: Stack, delivered: dict[str, Any] | None = None, **secrets: str) -> Any:
    sources = KeySources(  # noqa: S604 its `shell` is an environment, not a shell
        secrets=secrets,
        dotenv=read_dotenv(stack.dotenv),
        dotenv_path=stack.dotenv,
        shell={"MY_KEY": "from-shell"},
    )
    return deliverable(stack, sources, delivered)


def test_the_server_is_told_of_the_agent_and_its_keys(project: Path) -> None:
    agent = told(find(project / "agents" / "a"), MY_KEY="from-secret")

    assert agent == {
        "name": "a",
        "directory": str(project / "agents" / "a"),
        "entrypoint": "main:answer",
        "python": None,
        "memory": True,
        "environment": {"MY_KEY": "from-secret", "OTHER": "x"},
    }


def test_the_agent_is_not_told_where_memory_is_stored(project: Path) -> None:
    (project / ".env").write_text("MONGODB_URI=mongodb://ana:hunter2@h\nOTHER=x\n")

    agent = told(find(project / "agents" / "a"), MONGODB_URI="mongodb://h", MONGOMEM_DB_NAME="m")

    assert agent["environment"] == {"OTHER": "x"}


def test_from_the_projects_directory_the_delivered_agent_is_meant(project: Path) -> None:
    delivered = told(find(project / "agents" / "a"))

    assert told(find(project)) is None
    assert told(find(project), delivered) == delivered


def test_an_agent_that_is_gone_is_forgotten(project: Path) -> None:
    delivered = told(find(project / "agents" / "a"))
    (project / "agents" / "a" / "agent.yaml").unlink()

    assert told(find(project), delivered) is None


def test_without_an_entrypoint_the_built_in_agent_stays(project: Path) -> None:
    (project / "agents" / "a" / "agent.yaml").write_text("features: {memory: true}\n")

    assert told(find(project / "agents" / "a")) is None


def test_a_broken_file_is_told(project: Path) -> None:
    (project / "agents" / "a" / "agent.yaml").write_text("entrypoint: main\n")

    with pytest.raises(InvalidAgentFile):
        told(find(project / "agents" / "a"))


@pytest.mark.parametrize("place", ["agents/a", "."])
def test_the_python_beside_the_agent_or_the_project_is_its_own(project: Path, place: str) -> None:
    python = project / place / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()

    assert told(find(project / "agents" / "a"))["python"] == str(python)


def test_what_is_delivered_is_closed_to_others_and_can_be_taken_back(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path)
    state.prepare()
    state.deliver_agent({"name": "a"})
    mode = state.agent.stat().st_mode & 0o777

    state.deliver_agent(None)

    assert (mode, state.delivered_agent()) == (0o600, None)
