import itertools
import re
from pathlib import Path

import pytest

from tests.integration.control.remote.conftest import Person, Remote, joined, log_in
from tests.unit.agentengine_cli.conftest import Cli

MESSAGES = itertools.count(21)
KEY = "memory.background_extraction.snapshot.max_messages"
CONFIG = """memory_only: true
memory:
  background_extraction: {{snapshot: {{max_messages: {messages}}}}}
  embedding: {{provider: local}}
  extraction_llm: {{provider: local}}
  extraction: {{enabled: [semantic]}}
"""


@pytest.fixture
def file(home: Path) -> Path:
    """A configuration the server does not have yet."""
    path = home / "project-config.yaml"
    path.write_text(CONFIG.format(messages=next(MESSAGES)))
    return path


def test_what_is_configured_is_pending_until_it_is_applied(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    where = remote.project()

    stored = cli("memory", "configure", "--yes", *where, "--json").json
    pending = cli("memory", "status", *where, "--json").json
    applied = cli("memory", "apply", "--wait", *where, "--json").json

    assert (stored["pending"], pending["config"]["pending"]) == (True, True)
    assert any(KEY in line for line in stored["differences"])
    assert applied["changed"] is True
    assert applied["status"]["state"] == "ready"
    assert applied["status"]["config"]["pending"] is False


def test_the_next_step_names_the_same_server(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    ran = cli("memory", "configure", "--yes", *remote.project())

    assert f"agentengine memory apply --base-url {remote.url} --org-id local" in ran.err
    assert f"Target: project local at {remote.url}" in ran.err
    assert "extraction: semantic" in ran.err


def test_nothing_is_stored_without_being_asked(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    before = cli("memory", "status", *remote.project(), "--json").json["config"]

    refused = cli("memory", "configure", *remote.project())

    assert (refused.code, "--yes" in refused.err) == (1, True)
    assert KEY in refused.err
    assert cli("memory", "status", *remote.project(), "--json").json["config"] == before


def test_every_problem_is_told_by_its_place_and_nothing_is_sent(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    file.write_text("memory:\n  log_level: loud\n  extraction: {enabled: [nope]}\n")

    ran = cli("memory", "configure", "--yes", *remote.project(), "--json")

    assert (ran.code, ran.error["code"]) == (1, "CONFIG_REFUSED")
    assert [problem.split(": ")[0] for problem in ran.error["problems"]] == [
        f"{file}:2:14",
        f"{file}:3:26",
    ]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    cli("memory", "configure", "--yes", *remote.project())

    would = cli("memory", "apply", "--dry-run", *remote.project())

    assert f"would replace the services: {KEY}" in would.out
    assert cli("memory", "status", *remote.project(), "--json").json["config"]["pending"] is True


@pytest.mark.parametrize("option", [("--upgrade",), ("--port", "8081")], ids=" ".join)
def test_what_only_the_servers_own_machine_can_do_is_refused(
    cli: Cli, remote: Remote, operator: Person, option: tuple[str, ...]
) -> None:
    ran = cli("memory", "apply", *option, *remote.project(), "--json")

    assert (ran.code, ran.error["code"]) == (1, "NOT_OVER_HTTP")
    assert "nothing was changed" in ran.error["message"]


def test_status_begins_with_the_state(cli: Cli, remote: Remote, operator: Person) -> None:
    told = cli("memory", "status", *remote.project()).out

    assert told.startswith("state: ready\n")
    assert re.search(r"^jobs: \d+ queued, \d+ running, \d+ failed$", told, re.MULTILINE)
    assert re.search(r"running \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\b", told)
    assert cli("status", *remote.project()).out.startswith("project: local\nmemory state: ready\n")


def test_a_log_is_not_sent_and_where_it_is_is_said(
    cli: Cli, remote: Remote, operator: Person
) -> None:
    ran = cli("logs", *remote.project(), "--json")

    assert (ran.code, ran.error["code"]) == (1, "LOG_ELSEWHERE")


def test_a_secret_is_set_listed_taken_and_deleted(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    where = remote.project()
    cli("memory", "configure", "--yes", *where)
    cli("memory", "apply", *where)

    ran = cli("secret", "set", "LLM_API_KEY", "--stdin", *where, stdin=b"sk-0123456789abcdef")
    listed = cli("secret", "list", *where, "--json").json
    synced = cli("secret", "sync", *where)
    gone = cli("secret", "delete", "LLM_API_KEY", "--yes", *where)

    assert "secret sync --base-url" in ran.err
    assert [secret["name"] for secret in listed["secrets"]] == ["LLM_API_KEY"]
    assert "sk-0123456789abcdef" not in ran.out + ran.err + str(listed)
    assert synced.out == "the memory server has the secrets\n"
    assert (gone.code, cli("secret", "list", *where, "--json").json["total"]) == (0, 0)


def test_a_secret_no_model_would_read_is_refused(
    cli: Cli, remote: Remote, project: str, ana: Person
) -> None:
    where = remote.project(project)

    other = cli("secret", "set", "LLM_API_KEY", "--stdin", *where, "--json", stdin=b"value")
    scope = cli("secret", "set", "X", "--stdin", "--workspace-scope", *where, stdin=b"value")

    assert (other.code, other.error["code"]) == (1, "SECRET_NOT_SERVED")
    assert (scope.code, "--workspace-scope" in scope.err) == (1, True)


@pytest.mark.parametrize("command", [("configure", "--yes"), ("apply",)], ids=" ".join)
def test_an_owner_of_another_project_is_told_whose_the_configuration_is(
    cli: Cli, remote: Remote, ana: Person, project: str, file: Path, command: tuple[str, ...]
) -> None:
    ran = cli("memory", *command, *remote.project(project), "--json")

    assert (ran.code, ran.error["code"]) == (1, "NOT_THE_OPERATOR")
    assert f"you are {ana.name}, PROJECT_OWNER of project {project}" in ran.error["message"]
    assert "--role PROJECT_OWNER --project-id local" in ran.error["hint"]


@pytest.mark.parametrize("role", ["PROJECT_OWNER", "PROJECT_READ_ONLY"])
def test_how_a_server_is_may_be_seen_by_those_who_do_not_administer_it(
    cli: Cli, remote: Remote, project: str, role: str
) -> None:
    log_in(cli, remote, joined(cli, remote, project, role))
    where = remote.project(project)

    seen = cli("memory", "status", *where, "--json").json

    assert (seen["state"], seen["config"]) == ("ready", None)
    assert (seen["embedding"]["state"], seen["worker"]["state"]) == ("ok", "running")
    assert set(seen["jobs"]) >= {"queued", "running", "failed"}
    assert cli("memory", "status", *where).out.startswith("state: ready\nurl: ")
    assert cli("status", *where).out.startswith(f"project: {project}\nmemory state: ready\n")


def test_what_was_said_before_asking_is_not_said_again_as_a_warning(
    cli: Cli, remote: Remote, operator: Person, file: Path
) -> None:
    file.write_text(file.read_text().replace("  extraction: {enabled: [semantic]}\n", ""))

    ran = cli("memory", "configure", "--yes", *remote.project())

    assert ran.err.count("extraction: all") == 1
