import pytest

from tests.integration.control.remote.conftest import Person, Remote, joined, log_in
from tests.unit.agentengine_cli.conftest import Cli


def test_a_project_is_made_seen_changed_and_deleted(cli: Cli, remote: Remote) -> None:
    made = cli("project", "create", "Desk", "--json", environ=remote.owner).json
    changed = cli(
        "project", "update", made["id"], "--enforce-identity", "--json", environ=remote.owner
    )
    listed = cli("project", "list", "--json", environ=remote.owner).json

    assert {"id", "name", "org_id"} <= set(made)
    assert changed.json["enforce_identity"] is True
    assert made["id"] in [project["id"] for project in listed["projects"]]
    gone = cli("project", "delete", made["id"], "--yes", "--json", environ=remote.owner)
    assert gone.json == {"id": made["id"], "deleted": True}
    assert cli("project", "get", made["id"], environ=remote.owner).code == 1


@pytest.mark.parametrize("rule", ["enforce_identity", "allow_delegation"])
def test_a_rule_is_switched_on_and_off_and_the_other_stays(
    cli: Cli, remote: Remote, project: str, rule: str
) -> None:
    option = rule.replace("_", "-")

    on = cli("project", "update", project, f"--{option}", "--json", environ=remote.owner).json
    off = cli("project", "update", project, f"--no-{option}", "--json", environ=remote.owner).json

    assert (on[rule], off[rule]) == (True, False)
    assert sum((on["enforce_identity"], on["allow_delegation"])) == 1


def test_nothing_is_deleted_without_being_asked(cli: Cli, remote: Remote, project: str) -> None:
    refused = cli("project", "delete", project, environ=remote.owner)

    assert (refused.code, "--yes" in refused.err) == (1, True)
    assert cli("project", "get", project, environ=remote.owner).code == 0


def test_a_change_of_nothing_is_wrong_usage(cli: Cli, remote: Remote, project: str) -> None:
    assert cli("project", "update", project, environ=remote.owner).code == 2


def test_a_password_is_told_once_and_a_new_one_ends_it(
    cli: Cli, remote: Remote, project: str
) -> None:
    first = joined(cli, remote, project, "AGENT_DEVELOPER")
    where = ("--project-id", project)
    listed = cli("project", "member", "list", *where, environ=remote.owner)
    reset = cli(
        "project", "member", "reset-password", first.name, *where, "--yes", environ=remote.owner
    )

    assert first.password not in listed.out
    assert "password: " in reset.out
    assert "shown only now" in reset.err
    login = ("auth", "login", "--base-url", remote.url, "--username", first.name)
    assert cli(*login, "--password-stdin", stdin=first.password.encode()).code == 1


def test_the_log_never_holds_a_password(
    cli: Cli, remote: Remote, project: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = tmp_path_factory.mktemp("log") / "log"
    options = ("--role", "PROJECT_READ_ONLY", "--project-id", project, "--json")

    made = cli(
        "project",
        "member",
        "add",
        "bob",
        *options,
        environ={
            **remote.owner,
            "AGENTENGINE_LOG_FILE": str(log),
            "AGENTENGINE_LOG_LEVEL": "debug",
        },
    ).json

    assert made["password"] not in log.read_text()


def test_somebody_without_the_role_is_told_which_one_is_needed_and_who_gives_it(
    cli: Cli, remote: Remote, project: str
) -> None:
    bob = joined(cli, remote, project, "AGENT_DEVELOPER")
    log_in(cli, remote, bob)

    ran = cli("memory", "erase", "--user-id", "x", "--yes", *remote.project(project), "--json")

    assert (ran.code, ran.error["code"]) == (1, "FORBIDDEN")
    assert f"{bob.name}, AGENT_DEVELOPER of project {project}" in ran.error["message"]
    assert "project member add USER --role PROJECT_OWNER" in ran.error["hint"]


def test_another_role_holds_at_once(cli: Cli, remote: Remote, project: str, ana: Person) -> None:
    where = ("--project-id", project)
    role = ("--role", "PROJECT_READ_ONLY")

    changed = cli(
        "project", "member", "update", ana.name, *role, *where, "--json", environ=remote.owner
    )

    assert changed.json["role"] == "PROJECT_READ_ONLY"
    assert cli("memory", "jobs", *remote.project(project)).code == 1


def test_a_removed_member_is_out_at_once(
    cli: Cli, remote: Remote, project: str, ana: Person
) -> None:
    where = ("--project-id", project, "--yes")
    cli("project", "member", "remove", ana.name, *where, environ=remote.owner)

    ran = cli("memory", "jobs", *remote.project(project))

    assert ran.code == 1
    assert "agentengine auth login" in ran.err


def test_where_no_project_is_named_one_has_to_be(cli: Cli, remote: Remote) -> None:
    ran = cli("project", "member", "list", environ=remote.owner)

    assert (ran.code, "--project-id" in ran.err) == (2, True)


def test_without_any_server_one_has_to_be_named(cli: Cli) -> None:
    ran = cli("project", "list", "--json")

    assert (ran.code, ran.error["code"]) == (1, "NO_TARGET")
    assert ran.error["hint"] == "agentengine project list --base-url URL"
