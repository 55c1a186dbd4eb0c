import json
from pathlib import Path

import pytest

from tests.unit.agentengine_cli.conftest import Cli

LOG = "2026-05-04T10:00:00Z one\n2026-05-04T11:00:00Z two\n"


@pytest.fixture
def project(home: Path) -> Path:
    (home / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    return home


@pytest.fixture
def logged(project: Path) -> Path:
    path = project / ".agentengine" / "logs" / "memory-server.log"
    path.parent.mkdir(parents=True)
    path.write_text(LOG)
    return path


def test_without_a_project_every_command_says_where_it_looked(cli: Cli, home: Path) -> None:
    ran = cli("dev", "status")

    assert ran.code == 1
    assert str(home) in ran.err
    assert "agentengine create --memory-only" in ran.err


def test_status_has_the_documented_keys(cli: Cli, project: Path) -> None:
    document = cli("dev", "status", "--json").json

    assert set(document) == {
        "schema_version",
        "status",
        "mode",
        "running",
        "total",
        "services",
        "context",
    }
    assert set(document["services"][0]) == {"name", "status", "running", "url"}
    assert (document["status"], document["running"]) == ("stopped", 0)


def test_stop_without_a_server_is_no_failure(cli: Cli, project: Path) -> None:
    assert cli("dev", "stop").code == 0
    assert not (project / ".agentengine").exists()


@pytest.mark.parametrize(
    "command", [("logs", "--no-follow"), ("clean", "--yes"), ("stop",), ("status",)]
)
def test_all_means_the_stack_at_the_root_of_the_repository(
    cli: Cli, logged: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (logged.parents[2] / ".git").mkdir()
    inner = logged.parents[2] / "inner"
    inner.mkdir()
    (inner / "project-config.yaml").write_text("memory_only: true\nmemory: {}\n")
    monkeypatch.chdir(inner)

    here, there = cli("dev", *command), cli("dev", *command, "--all")

    assert there.code == 0
    assert ("one\n" in there.out) == (command[0] == "logs")
    assert logged.exists() == (command[0] != "clean")
    assert here.out in {"", "nothing to delete\n", "nothing runs\n"} or command == ("status",)


def test_up_without_keys_names_both_ways_out(cli: Cli, project: Path) -> None:
    ran = cli("dev", "up")

    assert ran.code == 1
    assert "provider local" in ran.err
    assert "--local-models" in ran.err


def test_up_of_an_agent_without_memory_says_how_to_turn_it_on(cli: Cli, project: Path) -> None:
    (project / "agent.yaml").write_text("features: {memory: false}\n")

    ran = cli("dev", "up")

    assert ran.code == 1
    assert "features.memory: true" in ran.err


def test_restart_of_what_never_ran_is_refused(cli: Cli, project: Path) -> None:
    assert "agentengine dev up" in cli("dev", "restart").err


def test_status_says_that_both_services_are_one_process(cli: Cli, project: Path) -> None:
    lines = cli("dev", "status").out.splitlines()

    assert [line.split()[0] for line in lines if "the same process" in line] == ["oe"]


def test_clean_says_that_service_accounts_go_too(cli: Cli, project: Path) -> None:
    (project / ".agentengine" / "data").mkdir(parents=True)

    assert "(every turn, memory and service account)" in cli("dev", "clean").err


def test_clean_lists_what_goes_and_refuses_unasked(cli: Cli, logged: Path) -> None:
    ran = cli("dev", "clean")

    assert ran.code == 1
    assert str(logged.parent) in ran.err
    assert logged.exists()

    assert cli("dev", "clean", "--yes").code == 0
    assert not logged.exists()
    assert cli("dev", "clean").out == "nothing to delete\n"


def test_logs_are_shown_from_both_commands(cli: Cli, logged: Path) -> None:
    assert cli("dev", "logs", "--no-follow").out == LOG
    assert cli("logs", "--source", "memory").out == LOG


def test_logs_are_selected_by_tail_pattern_and_time(cli: Cli, logged: Path) -> None:
    last = LOG.splitlines(keepends=True)[-1]

    assert cli("logs", "--tail", "1").out == last
    assert cli("logs", "--grep", "t.o$").out == last
    assert cli("logs", "--since", "2026-05-04T10:30:00Z").out == last


def test_log_lines_in_json_carry_their_time(cli: Cli, logged: Path) -> None:
    entries = json.loads(cli("logs", "--json").out)

    assert [entry["time"][:19] for entry in entries] == [
        "2026-05-04T10:00:00",
        "2026-05-04T11:00:00",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("logs", "--grep", "("),
        ("logs", "--since", "yesterday"),
        ("logs", "--follow", "--json"),
        ("dev", "logs", "nonsense"),
    ],
)
def test_logs_refuse_what_means_nothing(cli: Cli, logged: Path, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments).code == 2


def test_services_with_a_log_are_listed(cli: Cli, project: Path) -> None:
    assert cli("dev", "logs", "--list-services").out.split() == ["memory-server", "oe", "agent"]


def test_status_at_the_top_has_its_own_verbose(cli: Cli, project: Path) -> None:
    ran = cli("status", "--verbose")

    assert "memory state: not_provisioned" in ran.out
    assert str(project / ".agentengine") in ran.out
    assert cli("status", "-vv").code == 2
    assert set(cli("status", "--json").json) == {"stack", "memory"}
