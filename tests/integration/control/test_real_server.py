import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentengine_cli.control import addresses
from agentengine_cli.main import main
from tests.ports import free_port

CONFIG = """
memory_only: true
memory:
  log_level: {level}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project-config.yaml").write_text(CONFIG.format(level="info"))
    yield tmp_path
    main(["dev", "stop", "--no-log"])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """Return a command's JSON document."""
    assert main([*arguments, "--json", "--no-log"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_stack_comes_up_is_configured_anew_and_goes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(capsys, "dev", "up", "--local-models")
    first = answer(capsys, "memory", "status")
    (project / "project-config.yaml").write_text(CONFIG.format(level="debug"))
    answer(capsys, "memory", "configure", "--yes")
    pending = answer(capsys, "memory", "status")
    answer(capsys, "memory", "apply", "--wait", "--local-models")
    second = answer(capsys, "memory", "status")
    stopped = answer(capsys, "dev", "stop")

    assert (first["state"], second["state"]) == ("ready", "ready")
    assert first["url"] == second["url"]
    assert (pending["config"]["pending"], second["config"]["pending"]) == (True, False)  # type: ignore[index]
    assert stopped == {"stopped": True}
    assert answer(capsys, "memory", "status")["state"] == "stopped"


def test_why_a_server_is_not_where_examples_look_for_it_is_said_unless_it_was_chosen(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((addresses.HOST, 0)) as other:
        usual = other.getsockname()[1]
        monkeypatch.setattr(addresses, "USUAL_PORT", usual)
        said = []
        for command in (("dev", "up"), ("memory", "apply"), ("dev", "up", "--port")):
            port = [str(free_port())] if command[-1] == "--port" else []
            assert main([*command, *port, "--local-models", "--no-log"]) == 0
            said.append(f"because {usual} is in use by" in capsys.readouterr().err)
    assert main(["dev", "stop", "--no-log"]) == 0

    assert said == [True, True, False]
