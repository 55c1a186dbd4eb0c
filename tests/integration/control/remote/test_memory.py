import json
from pathlib import Path

import pytest

from tests.integration.control.remote.conftest import Person, Remote, joined, log_in
from tests.unit.agentengine_cli.conftest import Cli, a_turn


@pytest.fixture
def turns(home: Path) -> str:
    path = home / "turns.jsonl"
    path.write_text(json.dumps(a_turn(content="I always fly out of Boston.")) + "\n")
    return str(path)


def test_what_is_recorded_in_one_project_is_found_there_and_nowhere_else(
    cli: Cli, remote: Remote, project: str, ana: Person, operator: Person, turns: str
) -> None:
    where, question = remote.project(project), ("search", "airport Boston", "--user-id", "ana")

    assert cli("memory", "import", turns, *where, "--json").json["new"] == 1
    assert cli("memory", "flush", *where).code == 0
    here = cli("memory", *question, *where, "--json").json
    there = cli("memory", *question, *remote.project(), "--json").json

    assert any("Boston" in memory["content"] for memory in here["memories"])
    assert (there["memories"], there["total"]) == ([], 0)


def test_a_search_that_finds_nothing_names_what_may_still_wait(
    cli: Cli, remote: Remote, project: str, ana: Person
) -> None:
    where = remote.project(project)

    found = cli("memory", "search", "airport", *where)

    assert (found.code, found.out) == (0, "")
    assert f"Hint: agentengine memory flush {' '.join(where)} promotes" in found.err


def test_memories_jobs_and_erasure_are_the_projects_own(
    cli: Cli, remote: Remote, project: str, ana: Person, operator: Person, turns: str
) -> None:
    where = remote.project(project)
    cli("memory", "import", turns, *where)
    cli("memory", "flush", *where)

    shown = cli("memory", "show", "--user-id", "ana", *where, "--json").json["memories"]
    erased = cli("memory", "erase", "--user-id", "ana", "--yes", *where, "--json").json

    assert shown
    assert cli("memory", "jobs", *where, "--json").json["counts"]["done"] == 0
    assert erased["deleted"]["turns"] == 1
    assert cli("memory", "show", "--user-id", "ana", *where, "--json").json["memories"] == []


def test_a_project_that_holds_memory_is_not_deleted(
    cli: Cli, remote: Remote, project: str, ana: Person, turns: str
) -> None:
    cli("memory", "import", turns, *remote.project(project))

    ran = cli("project", "delete", project, "--yes", "--json", environ=remote.owner)

    assert (ran.code, ran.error["code"]) == (1, "PROJECT_NOT_EMPTY")


def test_somebody_who_is_logged_in_talks_as_themselves(
    cli: Cli, remote: Remote, operator: Person
) -> None:
    answer = cli("invoke", "I live in Boston.", *remote.project(), "--json").json

    assert answer["identity"]["user_id"] == operator.name


def test_a_service_account_of_the_environment_imports(
    cli: Cli, remote: Remote, project: str, ana: Person, turns: str
) -> None:
    where = ("--base-url", remote.url, "--project-id", project)
    made = cli("service-account", "create", "ci", "--role", "AGENT_DEVELOPER", *where, "--json")
    account = {
        "AGENTENGINE_CLIENT_ID": made.json["service_account"]["client_id"],
        "AGENTENGINE_CLIENT_SECRET": made.json["client_secret"],
    }

    done = cli("memory", "import", turns, *remote.project(project), "--json", environ=account)
    refused = cli("project", "member", "list", *where, "--json", environ=account)

    assert done.json["new"] == 1
    assert (refused.code, refused.error["code"]) == (1, "FORBIDDEN")


def test_credentials_of_the_environment_go_to_the_server_they_are_for(
    cli: Cli, remote: Remote, project: str
) -> None:
    elsewhere = {**remote.owner, "AGENTENGINE_API_BASE_URL": "https://other.example"}

    ran = cli("memory", "jobs", *remote.project(project), "--json", environ=elsewhere)

    assert (ran.code, ran.error["code"]) == (1, "NOT_LOGGED_IN")


def test_the_environments_address_completes_the_two_other_ids_and_nothing_less(
    cli: Cli, remote: Remote, project: str
) -> None:
    half = ("memory", "jobs", "--project-id", project)
    whole = cli(*half, "--org-id", "local", environ=remote.owner)
    refused = cli(*half, environ=remote.owner)

    assert whole.code == 0
    assert (refused.code, "incomplete explicit target" in refused.err) == (2, True)


def test_an_account_of_the_organization_makes_projects_and_opens_none(
    cli: Cli, remote: Remote
) -> None:
    where = ("--base-url", remote.url, "--org-id", "local", "--json")
    role = ("--role", "ORG_GROUP_CREATOR")
    made = cli("service-account", "create", "ops", *role, *where, environ=remote.owner).json
    account = {
        "AGENTENGINE_CLIENT_ID": made["service_account"]["client_id"],
        "AGENTENGINE_CLIENT_SECRET": made["client_secret"],
        "AGENTENGINE_API_BASE_URL": remote.url,
    }

    project = cli("project", "create", "By ops", "--json", environ=account).json

    opened = cli("memory", "jobs", *remote.project(project["id"]), environ=account)
    assert (opened.code, "You are the service account" in opened.err) == (1, True)


def test_with_a_context_and_a_pin_nothing_has_to_be_named(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    (home / "agent.yaml").touch()
    cli("context", "create", "desk")

    assert cli("context", "pin", "desk").code == 0
    ran = cli("memory", "jobs")

    assert ran.code == 0
    assert f"Target: project {project} at {remote.url}, by the directory pin desk" in ran.err


def test_init_names_a_context_after_the_project_and_binds_the_directory(
    cli: Cli, remote: Remote, project: str, ana: Person, home: Path
) -> None:
    (home / "agent.yaml").touch()
    name = cli("project", "get", project, "--json").json["name"].replace(" ", "-")

    made = cli("init", *remote.project(project), "--json").json

    assert made["name"] == f"{name}-{project}"
    assert cli("init", *remote.project(project), "--json").json == made
    assert cli("context", "current", "--json").json["project_id"] == project


def test_enforced_identity_is_told_as_the_server_tells_it(
    cli: Cli, remote: Remote, project: str, turns: str
) -> None:
    cli("project", "update", project, "--enforce-identity", environ=remote.owner)
    bob = joined(cli, remote, project, "AGENT_DEVELOPER")
    log_in(cli, remote, bob)

    ran = cli("memory", "import", turns, *remote.project(project))

    assert ran.code == 1
    assert "user_id" in ran.err
