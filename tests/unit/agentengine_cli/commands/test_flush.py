"""memory flush: what is promoted, what comes of it, and what waits."""

import asyncio
from pathlib import Path

import httpx

from memory_server.client import MemoryServerClient
from tests.unit.agentengine_cli.commands.documents import a_job
from tests.unit.agentengine_cli.conftest import Cli
from tests.unit.agentengine_cli.stand_in import StandIn


def test_a_flush_reports_what_became_of_the_candidates(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    decided = [{"action": "ADD"}, {"action": "ADD"}, {"action": "REINFORCE"}]
    server.jobs = [a_job(id="j0", result={"decisions": [{"action": "UPDATE"}]})]
    server.after_flush = [a_job(result={"decisions": decided})]

    ran = cli("memory", "flush", "--user-id", "ana", "--json")

    assert ran.code == 0
    assert ran.json["decisions"] == {"ADD": 2, "UPDATE": 0, "REINFORCE": 1}
    assert server.bodies == [{"user_id": "ana"}]


def test_a_flush_fails_when_a_job_of_its_failed(cli: Cli, stack: Path, server: StandIn) -> None:
    server.jobs = [a_job(id="old", state="failed", error_code="OLD", error="long ago")]
    server.after_flush = [a_job(state="failed", error_code="MODEL_REFUSED", error="no")]

    ran = cli("memory", "flush")

    assert ran.code == 1
    assert "1 job failed" in ran.err
    assert "j1: MODEL_REFUSED: no" in ran.err
    assert "OLD" not in ran.err


def test_a_flush_that_takes_too_long_tells_the_last_reason(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    stuck = a_job(state="queued", error_code="KEY_REJECTED", error="the key is not taken")
    server.after_flush = [stuck]

    ran = cli("memory", "flush", "--timeout", "300ms", "--json")

    assert (ran.code, ran.error["code"]) == (1, "TIMEOUT")
    assert ran.error["problems"] == ["KEY_REJECTED: the key is not taken"]


def test_a_flush_tells_while_it_waits_which_job_fails_and_when_it_is_tried_again(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    stuck = a_job(
        state="queued", error_code="KEY_REJECTED", error="no", attempts=3, type="episodic"
    )
    server.after_flush = [stuck | {"due_at": "2026-05-04T10:05:00+00:00"}]
    told = (
        "job j1 (episodic) failed (KEY_REJECTED: no) and is tried again at "
        "2026-05-04T10:05:00+00:00; tries: 3"
    )

    people = cli("memory", "flush", "--timeout", "1200ms")
    program = cli("memory", "flush", "--timeout", "300ms", "--json")

    assert people.err.count(told) == 1
    assert people.err.index(told) < people.err.index("Error: Not done after")
    assert program.error["code"] == "TIMEOUT"


SPENT = "budget of 2 calls an hour is spent (2 of 2), goes on at 10:00 UTC"
LATER = "2126-05-04T10:00:00+00:00"


def test_jobs_that_wait_for_a_spent_budget_are_told_at_once_and_not_called_failed(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    spent = a_job(state="queued", attempts=0, error_code="BUDGET_SPENT", error=SPENT)
    server.spending = {"waiting": SPENT, "waiting_until": LATER}
    server.after_flush = [spent, spent | {"id": "j2", "user_id": "bob"}, a_job(id="j3")]

    ran = cli("memory", "flush", "--json")

    assert (ran.code, ran.error["code"]) == (3, "JOBS_WAIT")
    assert ran.json["waiting"] == [{"jobs": 2, "reason": SPENT, "until": LATER}]
    assert ran.error["problems"] == [f"2 jobs wait until 2126-05-04 10:00:00 UTC: {SPENT}"]
    assert "failed" not in ran.err


def test_jobs_of_a_model_that_is_left_alone_are_told(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.circuit = {
        "state": "open",
        "next_probe": LATER,
        "because": "no key",
        "to_do": "set the key",
    }
    server.after_flush = [a_job(state="queued", attempts=0)]

    ran = cli("memory", "flush")

    assert ran.code == 3
    assert "1 job still to be done" in ran.err
    assert (
        "1 job waits until 2126-05-04 10:00:00 UTC: the extraction model is left alone, because "
        "no key; set the key"
    ) in " ".join(ran.err.split())


def test_a_second_flush_tells_what_waits_of_the_first(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.jobs = [a_job(state="queued", error_code="BUDGET_SPENT", error=SPENT, due_at=LATER)]

    ran = cli("memory", "flush", "--json")

    assert (ran.code, ran.json["jobs"], ran.json["waiting"][0]["jobs"]) == (3, 0, 1)


def test_a_job_that_failed_is_told_before_those_that_wait(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    waits = a_job(state="queued", error_code="BUDGET_SPENT", error=SPENT, due_at=LATER)
    server.after_flush = [waits, a_job(id="j2", state="failed", error_code="NO", error="no")]

    ran = cli("memory", "flush", "--json")

    assert (ran.code, ran.error["code"]) == (1, "PARTLY_FAILED")
    assert len(ran.error["problems"]) == 2


def test_a_flush_that_does_not_wait_says_only_what_it_promoted(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.after_flush = [a_job(state="queued")]

    assert cli("memory", "flush", "--no-wait", "--json").json == {"snapshots": 1, "jobs": 1}


def test_a_flush_counts_as_people_do(cli: Cli, stack: Path, server: StandIn) -> None:
    server.after_flush = [a_job(state="done"), a_job(state="done") | {"id": "j2"}]

    assert cli("memory", "flush", "--no-wait").out == "promoted: 1 snapshot\nqueued: 2 jobs\n"


def test_a_flush_does_not_count_what_was_worked_on_for_others(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    others = a_job(id="b", user_id="bob", result={"decisions": [{"action": "UPDATE"}]})
    waits = a_job(id="c", user_id="bob", state="queued")
    failed = a_job(id="d", user_id="bob", state="failed")
    server.after_flush = [a_job(result={"decisions": [{"action": "ADD"}]}), others, waits, failed]
    server.own_jobs = 1

    ran = cli("memory", "flush", "--user-id", "ana", "--json")

    assert (ran.code, ran.json["decisions"]) == (0, {"ADD": 1, "UPDATE": 0, "REINFORCE": 0})


def test_a_second_flush_finds_nothing_to_do(cli: Cli, stack: Path, server: StandIn) -> None:
    server.after_flush = [a_job(result={"decisions": [{"action": "ADD"}]})]
    cli("memory", "flush")
    server.after_flush = []

    again = cli("memory", "flush", "--json")

    assert again.json["decisions"] == {"ADD": 0, "UPDATE": 0, "REINFORCE": 0}


def test_promotion_that_outlasts_the_timeout_says_that_the_server_goes_on(
    cli: Cli, stack: Path, server: StandIn
) -> None:
    server.promotes_for_ever = True

    ran = cli("memory", "flush", "--no-wait", "--timeout", "100ms", "--json")

    assert (ran.code, ran.error["code"]) == (1, "TIMEOUT")
    assert "still promoting" in ran.error["message"]
    assert "flushing again is harmless" in ran.error["hint"]


def test_promotion_gets_the_time_of_the_command() -> None:
    limits: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"]["read"])
        return httpx.Response(200, json={"snapshots": 0, "jobs": 0})

    client = MemoryServerClient("http://127.0.0.1:1", transport=httpx.MockTransport(answer))

    asyncio.run(client.flush(seconds=600.0))

    assert limits == [600.0]
