from datetime import UTC, datetime, timedelta
from typing import Any

from agentengine_cli.held_jobs import held_jobs
from tests.unit.agentengine_cli.commands.documents import a_job

NOW = datetime(2026, 5, 4, 9, 50, tzinfo=UTC)
SOON, LATE = NOW + timedelta(minutes=1), NOW + timedelta(minutes=10)
CIRCUIT = {"state": "open", "next_probe": LATE.isoformat(), "because": "b", "to_do": "t"}


def queued(**changes: Any) -> Any:
    return a_job(state="queued", created_at=NOW.isoformat(), **changes)


def test_a_job_without_a_reason_to_wait_is_free() -> None:
    assert held_jobs([queued()], spending={}, circuit={}, now=NOW) == ([], 1)


def test_the_budget_holds_a_job_up_to_its_end_though_it_looks_again_sooner() -> None:
    job = queued(error_code="BUDGET_SPENT", error="spent", due_at=SOON.isoformat())

    [held], free = held_jobs(
        [job], spending={"waiting_until": LATE.isoformat()}, circuit={}, now=NOW
    )

    assert (held.jobs, held.reason, held.until, free) == (1, "spent", LATE, 0)


def test_a_circuit_holds_up_later_than_the_next_try_of_a_job() -> None:
    job = queued(error_code="KEY_REJECTED", error="no", due_at=SOON.isoformat())

    [held], _ = held_jobs([job], spending={}, circuit=CIRCUIT, now=NOW)

    assert held.until == LATE


def test_a_circuit_that_lets_a_call_through_holds_nothing_up() -> None:
    half = CIRCUIT | {"state": "half-open"}

    assert held_jobs([queued()], spending={}, circuit=half, now=NOW) == ([], 1)


def test_jobs_of_a_user_and_type_wait_for_the_one_before() -> None:
    first = queued(error_code="NO", error="no", due_at=LATE.isoformat())
    second = queued(id="j2") | {"created_at": SOON.isoformat()}
    others = [queued(id="j3", user_id="bob"), queued(id="j4", type="episodic")]

    [held], free = held_jobs([second, first, *others], spending={}, circuit={}, now=NOW)

    assert (held.jobs, free) == (2, 2)


def test_what_holds_up_shortest_is_first() -> None:
    late = queued(error_code="A", error="a", due_at=LATE.isoformat())
    soon = queued(id="j2", user_id="bob", error_code="B", error="b", due_at=SOON.isoformat())

    held, _ = held_jobs([late, soon], spending={}, circuit={}, now=NOW)

    assert [one.reason for one in held] == ["B: b", "A: a"]
