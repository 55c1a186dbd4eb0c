import subprocess
import sys
from pathlib import Path

import pytest

from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import Problem, load, scaffold

ROOT = Path(__file__).parents[4]


def test_a_file_is_loaded_with_what_was_written_and_what_it_means(tmp_path: Path) -> None:
    path = tmp_path / "project-config.yaml"
    path.write_text("memory_only: true\nmemory:\n  short_term: {embed_on_write: yes}\n")

    project = load(path)

    assert (project.path, project.memory_only) == (path, True)
    assert project.memory == {"short_term": {"embed_on_write": True}}
    assert project.config.embed_on_write
    assert project.places["memory", "short_term", "embed_on_write"] == (3, 32)


def test_problems_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "project-config.yaml"
    path.write_text("memory:\n  log_level: loud\n")

    with pytest.raises(InvalidProjectConfig) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}:2:14: memory.log_level: must be one of debug")


@pytest.mark.parametrize(("name", "reason"), [("no.yaml", "No such file"), (".", "directory")])
def test_a_file_that_cannot_be_opened_is_a_problem_too(
    tmp_path: Path, name: str, reason: str
) -> None:
    with pytest.raises(InvalidProjectConfig) as caught:
        load(tmp_path / name)

    (problem,) = caught.value.details["problems"]
    assert isinstance(problem, Problem)
    assert reason in problem.message


def test_a_file_over_the_limit_is_refused_by_size(tmp_path: Path) -> None:
    path = tmp_path / "project-config.yaml"
    path.write_bytes(b"memory: {}\n" + b"#" * 1_000_000)

    with pytest.raises(InvalidProjectConfig, match="larger than 1,000,000 bytes"):
        load(path)


def test_the_repository_is_configured_by_the_scaffold() -> None:
    path = ROOT / "project-config.yaml"

    assert path.read_text(encoding="utf-8") == scaffold("agentengine")
    assert load(path).warnings == ()


def test_importing_the_package_does_not_load_the_validator() -> None:
    code = "import sys, memory_server.project_config; sys.exit('jsonschema' in sys.modules)"

    done = subprocess.run(  # noqa: S603  our own interpreter and text
        [sys.executable, "-c", code], cwd=ROOT, check=False
    )
    assert done.returncode == 0
