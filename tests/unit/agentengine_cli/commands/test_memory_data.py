from pathlib import Path

import pytest

from tests.unit.agentengine_cli.commands.documents import a_job, a_memory
from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.stand_in import StandIn


def test_memories_are_shown_by_type_and_within_eighty_columns(
    cli: Cli, stack: Path, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    term = a_memory(type="taxonomic", domain="work", term="OKR", content="work/OKR: a goal")
    server.memories = [term, a_memory()]

    ran = cli("memory", "show", "--user-id", "ana")

    assert ran.out.index("Facts (semantic): 1") < ran.out.index("Terms (taxonomic): 1")
    assert "version 2, took place in May 2024, said as 'in May', confirmed 3" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_history_and_evidence_are_shown(cli: Cli, stack: Path, server: StandIn) -> None:
    server.memories = [a_memory()]

    ran = cli("memory", "show", "--user-id", "ana")

    assert "was: Ana lives in Porto. (version 1, 2023-01-02 to 2024-05-08)" in ran.out
    assert "from session s1, by rules/1, learned 2024-05-08" in ran.out
    assert "[3] Ana, 2024-05-08 10:00: I moved" in ran.out


def test_long_evidence_is_shown_in_part(cli: Cli, stack: Path, server: StandIn) -> None:
    memory = a_memory()
    turn = memory["evidence"][0]["turns"][0]
    memory["evidence"][0]["turns"] = [{**turn, "turn_seq": number} for number in range(1, 6)]
    server.memories = [memory]

    ran = cli("memory", "show", "--user-id", "ana")

    assert "[3] Ana" in ran.out
    assert "[4] Ana" not in ran.out
    assert "and 2 more turns" in ran.out


def test_long_words_of_evidence_are_cut_for_a_reader_only(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    memory = a_memory(history=[], content="Short")
    memory["evidence"][0]["turns"][0]["content"] = "word " * 100
    server.memories = [memory]

    shown = cli("memory", "show", "--user-id", "ana").out
    in_json = cli("memory", "show", "--user-id", "ana", "--json").out

    assert (shown.count("word"), in_json.count("word ")) == (40, 100)
    assert "word…" in shown


def test_shown_as_json_a_memory_has_only_what_was_asked_for(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.memories = [a_memory()]

    shown = cli("memory", "show", "--user-id", "ana", "--json", "--no-evidence").json

    assert shown["user_id"] == "ana"
    assert "history" in shown["memories"][0]
    assert "evidence" not in shown["memories"][0]


def test_nothing_remembered_is_no_failure(cli: Cli, stack: Path) -> None:
    ran = cli("memory", "show", "--user-id", "nobody")

    assert (ran.code, ran.out) == (0, "")
    assert "Nothing is remembered of nobody" in ran.err


def test_records_of_a_type_of_the_project_are_shown_with_their_tags(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    tags = {"plant": "north", "size": 7}
    server.memories = [a_memory(type="ticket", label=None, tags=tags), a_memory()]

    ran = cli("memory", "show", "--user-id", "ana", "--type", "ticket")

    assert "Records (ticket): 1" in ran.out
    assert "plant north, size 7" in ran.out
    assert "Facts" not in ran.out


def test_jobs_tell_what_was_left_out_and_why(cli: Cli, stack: Path, server: StandIn) -> None:
    long = {"reason": "longer than rules read: 20000 of 25000 characters of turn 3", "raw": "x"}
    other = {"reason": "no such number was said", "raw": "y"}
    server.jobs = [
        a_job(result={"rejected": [long]}),
        a_job(id="j2", result={"rejected": [long, other]}),
        a_job(id="j3"),
    ]

    ran = cli("memory", "jobs")

    header, *rows = [line.split() for line in ran.out.splitlines()]
    place = header.index("LEFT_OUT")
    assert [row[place] for row in rows] == ["1", "2", "-"]
    assert "left out (2 times): longer than rules read: 20000 of 25000" in ran.err
    assert "left out: no such number was said" in ran.err


@pytest.mark.parametrize("blank", ["", "  "], ids=["empty", "spaces"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("memory", "show", "--user-id"),
        ("memory", "flush", "--user-id"),
        ("memory", "flush", "--session"),
        ("memory", "erase", "--yes", "--user-id"),
        ("memory", "status", "--context"),
        ("memory", "apply", "--base-url"),
        ("secret", "list", "--org-id"),
        ("logs", "--project-id"),
        ("invoke", "Hi", "--user-id"),
        ("invoke", "Hi", "--user-id", "ana", "--session"),
        ("invoke", "Hi", "--service-account"),
        ("invoke", "Hi", "--user-id", "ana", "--workspace"),
        ("invoke", "Hi", "--user-id", "ana", "--workspace-id"),
    ],
    ids=" ".join,
)
def test_a_blank_id_is_wrong_usage_and_never_means_everybody(
    cli: Cli, stack: Path, server: StandIn, arguments: tuple[str, ...], blank: str
) -> None:
    ran = cli(*arguments, blank)

    assert (ran.code, server.seen) == (2, [])
    assert f"{arguments[-1]} is empty" in ran.err


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("memory", "retry"), "JOB"),
        (("service-account", "get"), "CLIENT_ID"),
        (("service-account", "delete"), "CLIENT_ID"),
    ],
)
def test_a_blank_argument_is_wrong_usage_too(
    cli: Cli, stack: Path, server: StandIn, command: tuple[str, str], name: str
) -> None:
    ran = cli(*command, " ")

    assert (ran.code, server.seen) == (2, [])
    assert f"{name} is empty" in ran.err


def test_jobs_are_listed_with_their_reasons(cli: Cli, stack: Path, server: StandIn) -> None:
    server.jobs = [a_job(), a_job(id="j2", state="failed", error_code="MODEL_REFUSED")]

    ran = cli("memory", "jobs", "--failed")

    assert "j2" in ran.out
    assert "MODEL_REFUSED" in ran.out
    assert "j1" not in ran.out


def test_jobs_are_listed_with_what_they_took(cli: Cli, stack: Path, server: StandIn) -> None:
    taken = {"calls": 2, "input_tokens": 1200, "output_tokens": 34}
    server.jobs = [a_job(result={"raw": "Dear colleague", **taken}), a_job(id="j2")]

    listed = cli("memory", "jobs")
    document = cli("memory", "jobs", "--json").json

    assert [line.split() for line in listed.out.splitlines() if "1234" in line]
    assert "Dear colleague" not in listed.out
    assert document["jobs"][0]["result"] == {"raw": "Dear colleague", **taken}


def test_every_failed_job_is_queued_again(cli: Cli, stack: Path, server: StandIn) -> None:
    server.jobs = [a_job(id="a", state="failed"), a_job(id="b"), a_job(id="c", state="failed")]

    ran = cli("memory", "retry", "--all-failed", "--json")

    assert ran.json == {"queued_again": 2, "jobs": ["a", "c"]}
    assert [job["state"] for job in server.jobs] == ["queued", "done", "queued"]


def test_an_unknown_job_is_told_with_where_to_look(cli: Cli, stack: Path) -> None:
    ran = cli("memory", "retry", "nope", "--json")

    assert (ran.code, ran.error["code"]) == (1, "JOB_NOT_FOUND")
    assert ran.error["hint"] == "agentengine memory jobs --failed"


@pytest.mark.parametrize("arguments", [(), ("j1", "--all-failed")], ids=["neither", "both"])
def test_a_retry_needs_one_job_or_all(cli: Cli, stack: Path, arguments: tuple[str, ...]) -> None:
    assert cli("memory", "retry", *arguments).code == 2


def test_a_user_is_erased_and_what_went_is_counted(cli: Cli, stack: Path, server: StandIn) -> None:
    server.memories = [a_memory(), a_memory(user_id="bob")]

    ran = cli("memory", "erase", "--user-id", "ana", "--yes", "--json")

    assert ran.json == {"user_id": "ana", "deleted": {"memories": 1}, "traces": "none"}
    assert [memory["user_id"] for memory in server.memories] == ["bob"]


def test_traces_that_an_erasure_left_are_told_of(cli: Cli, stack: Path, server: StandIn) -> None:
    server.traces = "being removed"

    ran = cli("memory", "erase", "--user-id", "ana", "--yes")

    assert ran.out.splitlines() == ["erased: ana", "memories: 0", "traces: being removed"]
    assert "agentengine memory status" in ran.err


def test_nobody_is_erased_without_being_asked(cli: Cli, stack: Path, server: StandIn) -> None:
    ran = cli("memory", "erase", "--user-id", "ana")

    assert (ran.code, server.seen) == (1, [])
    assert "--yes" in ran.err


def test_without_a_running_server_the_way_to_one_is_named(cli: Cli, home: Path) -> None:
    (home / "project-config.yaml").write_text("memory_only: true\n")

    ran = cli("memory", "jobs", "--json")

    assert (ran.code, ran.error["code"]) == (1, "SERVER_NOT_RUNNING")
    assert "agentengine" in ran.error["hint"]
