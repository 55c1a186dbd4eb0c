import json
from pathlib import Path

import pytest
import typer
import typer.main

from agentengine_cli.commands.targeting import working
from agentengine_cli.context import CliContext
from agentengine_cli.front import app
from agentengine_cli.output import Output
from tests.unit.agentengine_cli.conftest import Cli, announce

VALID = "memory_only: true\nmemory:\n  embedding: {provider: local}\n"
TWO_PROBLEMS = "memory_only: true\nmemory:\n  log_level: loud\n  voyage: {dimension: x}\n"


@pytest.fixture
def project(home: Path) -> Path:
    (home / "project-config.yaml").write_text(VALID)
    return home


def stored(project: Path) -> object:
    path = project / ".agentengine" / "stored.json"
    return json.loads(path.read_text())["document"] if path.exists() else None


def test_configure_stores_only_the_memory_mapping_and_says_what_is_next(
    cli: Cli, project: Path
) -> None:
    ran = cli("memory", "configure", "--yes")

    assert ran.code == 0
    assert stored(project) == {"embedding": {"provider": "local"}}
    assert "agentengine memory apply" in ran.err.splitlines()[-1]


def test_configure_shows_target_differences_and_effective_types_before_asking(
    cli: Cli, project: Path
) -> None:
    cli("memory", "configure", "--yes")
    (project / "project-config.yaml").write_text(VALID + "  log_level: debug\n")

    ran = cli("memory", "configure")

    assert ran.code == 1
    assert f"in {project}" in ran.err.splitlines()[0]
    assert "memory.log_level: info (default) -> debug" in ran.err
    assert "all: semantic, episodic, taxonomic, procedural (key absent)" in ran.err
    assert stored(project) == {"embedding": {"provider": "local"}}


def test_configure_lists_every_problem_and_keeps_what_was_stored(cli: Cli, project: Path) -> None:
    cli("memory", "configure", "--yes")
    (project / "project-config.yaml").write_text(TWO_PROBLEMS)

    ran = cli("memory", "configure", "--yes")

    assert (ran.code, ran.out) == (1, "")
    assert "nothing was stored" in ran.err
    assert "memory.log_level" in ran.err
    assert "memory.voyage.dimension" in ran.err
    assert stored(project) == {"embedding": {"provider": "local"}}


def test_configure_without_a_memory_key_leaves_the_stored_one_alone(
    cli: Cli, project: Path
) -> None:
    cli("memory", "configure", "--yes")
    (project / "project-config.yaml").write_text("memory_only: true\n")

    assert cli("memory", "configure", "--yes").code == 1
    assert stored(project) is not None


def test_configure_refuses_what_cannot_be_changed_any_more(cli: Cli, project: Path) -> None:
    key = "  metadata_partition_key: [{name: tier, type: string}]\n"
    (project / "project-config.yaml").write_text(VALID + key)
    cli("memory", "configure", "--yes")
    (project / "project-config.yaml").write_text(VALID)

    ran = cli("memory", "configure", "--yes")

    assert ran.code == 1
    assert "tier" in ran.err


def test_configure_in_json_is_one_document_and_never_asks(cli: Cli, project: Path) -> None:
    refused = cli("memory", "configure", "--json")
    ran = cli("memory", "configure", "--json", "--yes")

    assert (refused.code, refused.out) == (1, "")
    assert ran.json["pending"] is True
    assert any("provider" in line for line in ran.json["differences"])


def test_configure_takes_a_directory_or_a_file(cli: Cli, home: Path) -> None:
    (home / "a").mkdir()
    (home / "a" / "project-config.yaml").write_text(VALID)

    assert cli("memory", "configure", "a", "--yes").code == 0
    assert cli("memory", "configure", "a/project-config.yaml", "--yes").code == 0
    assert stored(home / "a") is not None


def test_validate_lists_each_problem_with_its_place_and_stores_nothing(
    cli: Cli, project: Path
) -> None:
    assert cli("memory", "validate").code == 0
    (project / "project-config.yaml").write_text(TWO_PROBLEMS)

    ran, in_json = cli("memory", "validate"), cli("memory", "validate", "--json")

    assert (ran.code, in_json.code) == (1, 1)
    assert "project-config.yaml:3:14: memory.log_level" in ran.err
    assert len(in_json.json["problems"]) == 2
    assert not (project / ".agentengine").exists()


def test_schema_is_a_json_document(cli: Cli) -> None:
    assert "properties" in cli("memory", "schema").json


@pytest.mark.parametrize("command", [("status",), ("apply", "--dry-run", "--local-models")])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (VALID + "  log_level: debug\n", "agentengine memory configure"),
        (TWO_PROBLEMS, "agentengine memory validate"),
        (VALID, None),
    ],
)
def test_file_that_was_edited_and_not_configured_is_told_once(
    cli: Cli, project: Path, command: tuple[str, ...], text: str, says: str | None
) -> None:
    cli("memory", "configure", "--yes")
    (project / "project-config.yaml").write_text(text)

    said = cli("memory", *command).err

    assert said.count("differs from the stored configuration") == (says is not None)
    assert (says or "") in said


def test_configuring_the_same_again_keeps_the_time(cli: Cli, project: Path) -> None:
    cli("memory", "configure", "--yes")
    path = project / ".agentengine" / "stored.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"at": "2026-01-01T00:00:00+00:00"}))

    cli("memory", "configure", "--yes")

    assert cli("memory", "status", "--json").json["config"]["stored"]["at"].startswith("2026-01-01")


def test_dry_run_on_a_running_server_speaks_of_a_restart(cli: Cli, project: Path) -> None:
    cli("memory", "configure", "--yes")
    announce(project, "http://127.0.0.1:1")

    ran = cli("memory", "apply", "--dry-run", "--local-models")

    assert ran.out.startswith("would restart the server: the stored configuration")


def test_blocking_reason_is_told_once_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    context = CliContext(output=Output())
    with working(typer.Context(typer.main.get_command(app), obj=context), "applying") as report:
        report("starting: embedding: being checked")
        report("blocked: embedding: the model is missing")

    assert capsys.readouterr().err == "Memory: blocked: embedding: the model is missing\n"


def test_status_before_anything_was_applied(cli: Cli, project: Path) -> None:
    ran, in_json = cli("memory", "status"), cli("memory", "status", "--json")

    assert (ran.code, ran.out.splitlines()[0]) == (0, "state: not_provisioned")
    assert in_json.json["state"] == "not_provisioned"
    assert in_json.json["config"] == {"stored": None, "applied": None, "pending": False}


def test_stored_configuration_is_pending_until_it_is_applied(cli: Cli, project: Path) -> None:
    cli("memory", "configure", "--yes")

    ran = cli("memory", "status")

    assert "config: pending (stored " in ran.out
    assert cli("memory", "status", "--json").json["config"]["pending"] is True


def test_apply_without_a_stored_configuration_names_the_command(cli: Cli, project: Path) -> None:
    ran = cli("memory", "apply")

    assert ran.code == 1
    assert "agentengine memory configure" in ran.err


def test_apply_without_a_key_starts_nothing_and_names_what_it_looked_for(
    cli: Cli, project: Path
) -> None:
    (project / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    cli("memory", "configure", "--yes")

    ran = cli("memory", "apply", environ={"VOYAGE_API_KEY": "in-the-shell"})

    assert ran.code == 1
    assert "secret OPENAI_API_KEY, secret LLM_API_KEY" in ran.err
    assert "VOYAGE_API_KEY was found in your shell, not in .env" in ran.err
    assert "in-the-shell" not in ran.err
    assert "--local-models" in ran.err
    assert cli("memory", "status").out.startswith("state: not_provisioned")


def test_line_of_dotenv_that_is_none_is_told_where_a_key_is_missed(cli: Cli, project: Path) -> None:
    (project / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    (project / ".env").write_text("A=1\nOPENAI_API_KEY hush-hush\n")
    cli("memory", "configure", "--yes")

    ran = cli("memory", "apply")

    assert f"not of the form NAME=value in {project / '.env'}: line 2" in ran.err
    assert "hush-hush" not in ran.err
    assert "python-dotenv" not in ran.err


def test_dry_run_says_what_would_happen(cli: Cli, project: Path) -> None:
    cli("memory", "configure", "--yes")

    ran = cli("memory", "apply", "--dry-run", "--local-models")

    assert (ran.code, ran.out.splitlines()[0]) == (
        0,
        "would start the server: the server was never started",
    )


@pytest.mark.parametrize("command", ["configure", "apply", "status"])
def test_another_server_needs_a_login(cli: Cli, project: Path, command: str) -> None:
    ids = ("--base-url", "https://ae.example", "--org-id", "o", "--project-id", "p")

    ran = cli("memory", command, *ids)

    assert ran.code == 1
    assert "Target: project p at https://ae.example, by explicit ids" in ran.err
    assert "Hint: agentengine auth login --base-url https://ae.example" in ran.err


@pytest.mark.parametrize("command", ["configure", "apply", "status"])
def test_project_id_alone_is_wrong_usage(cli: Cli, project: Path, command: str) -> None:
    ran = cli("memory", command, "--project-id", "p")

    assert ran.code == 2
    assert "incomplete explicit target" in ran.err
    assert f"agentengine memory {command} --base-url" in ran.err
