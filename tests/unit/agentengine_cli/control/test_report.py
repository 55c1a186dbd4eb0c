from dataclasses import replace

import pytest

from agentengine_cli.control.report import (
    lines_of_parts,
    seconds_of,
    status_document,
    status_lines,
)
from agentengine_cli.control.state import ServerRecord
from agentengine_cli.control.status import ConfigMark, State, Status

RECORD = ServerRecord(
    pid=42,
    process_started_at=1.0,
    url="http://127.0.0.1:8080",
    port=8080,
    instance_id="i",
    config_digest="new",
    started_at="2026-05-04T03:02:01+00:00",
)
OLD, NEW = ConfigMark(digest="old", at="10:00"), ConfigMark(digest="new", at="11:00")
READY = Status(
    state=State.READY,
    record=RECORD,
    stored=NEW,
    applied=NEW,
    body={"version": "1.0", "embedding": {"model": "m", "problem": None}},
)


def test_state_comes_first_and_empty_parts_are_left_out() -> None:
    assert list(status_lines(READY)) == [
        "state: ready",
        "url: http://127.0.0.1:8080",
        "pid: 42",
        "version: 1.0",
        "config: applied (stored 11:00, running 11:00)",
        "embedding: model=m",
    ]


@pytest.mark.parametrize(
    ("state", "line"),
    [(State.BLOCKED, "blocked on: the key"), (State.STARTING, "waiting for: the key")],
)
def test_reason_follows_the_state(state: State, line: str) -> None:
    lines = list(status_lines(replace(READY, state=state, blocked_on=("the key",))))

    assert lines[:2] == [f"state: {state}", line]


def test_pending_configuration_shows_both_times() -> None:
    lines = list(status_lines(replace(READY, applied=OLD)))

    assert "config: pending (stored 11:00, running 10:00); agentengine memory apply" in lines


def test_lists_sizes_and_answers_are_written_for_people() -> None:
    parts = {
        "embedding": {"model": "m", "ok": True},
        "extraction": {"enabled": [], "types": ["semantic", "episodic"]},
        "store": {"size_bytes": 3 * 1024 * 1024},
        "search": {"vectors": 0, "vector_memory_bytes": 12},
    }

    assert list(status_lines(replace(READY, body=parts)))[-4:] == [
        "embedding: model=m, ok=yes",
        "extraction: enabled=none, types=semantic, episodic",
        "store: size=3.0 MiB",
        "search: vectors=0, vector_memory=12 B",
    ]


def test_parts_of_parts_are_written_for_people() -> None:
    mirror = {"behind": {"documents": 0, "is_late": False}, "last_load": {"problem": None}}
    atlas = {"indexes": [{"name": "text", "answers": True}, {"name": "vector", "answers": False}]}

    told = [list(lines_of_parts({"search": one}, None, None)) for one in (mirror, atlas)]

    assert told == [
        ["search: behind=(documents=0, is_late=no), last_load=()"],
        ["search: indexes=(name=text, answers=yes), (name=vector, answers=no)"],
    ]


def test_a_server_elsewhere_is_told_of_as_one_here() -> None:
    search = {"documents": 0, "vectors": 0, "vector_memory_bytes": 4608}
    worker = {"state": "running", "problem": None}
    counts = {"queued": 0, "running": 0, "failed": 0}
    here = replace(READY, body={"search": search, "background": worker}, jobs=counts)
    there = {"search": search}

    lines = list(status_lines(here))[-3:]

    assert lines == list(lines_of_parts(there, worker, counts | {"done": 7}))
    assert lines == [
        "search: documents=0, vectors=0, vector_memory=4.5 KiB",
        "worker: state=running",
        "jobs: 0 queued, 0 running, 0 failed",
    ]


def test_the_failed_jobs_of_a_server_elsewhere_are_shown_by_its_options() -> None:
    [line] = lines_of_parts({}, None, {"queued": 0, "failed": 1}, options=" --context desk")

    assert line == "jobs: 0 queued, 1 failed; agentengine memory jobs --failed --context desk"


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        ("2026-05-04T03:02:01.123456+00:00", "2026-05-04T03:02:01+00:00"),
        ("2026-05-04T05:02:01+02:00", "2026-05-04T03:02:01+00:00"),
        ("2026-05-04T03:02:01Z", "2026-05-04T03:02:01+00:00"),
        ("11:00", "11:00"),
        (None, None),
    ],
)
def test_moments_are_told_to_the_second(moment: str | None, shown: str | None) -> None:
    assert seconds_of(moment) == shown


@pytest.mark.parametrize(
    ("failed", "line"),
    [
        (0, "jobs: 2 queued, 1 running, 0 failed"),
        (3, "jobs: 2 queued, 1 running, 3 failed; agentengine memory jobs --failed"),
    ],
)
def test_background_work_is_told_and_where_its_failures_are(failed: int, line: str) -> None:
    jobs = {"queued": 2, "running": 1, "failed": failed}

    assert list(status_lines(replace(READY, jobs=jobs)))[-1] == line


def test_end_that_nobody_saw_is_said_to_be_unknown() -> None:
    lines = list(status_lines(replace(READY, state=State.CRASHED, body={})))

    assert f"last run: started {RECORD.started_at}, end time unknown" in lines


def test_server_that_is_gone_has_no_address() -> None:
    gone = replace(READY, state=State.CRASHED, body={})

    assert not any(line.startswith(("url", "pid")) for line in status_lines(gone))
    assert (status_document(gone)["url"], status_document(gone)["pid"]) == (None, None)


def test_document_has_every_documented_key() -> None:
    document = status_document(READY)

    assert set(document) >= {
        *("state", "blocked_on", "url", "pid", "project_id", "store", "search"),
        *("embedding", "extraction", "version", "config"),
    }
    assert document["config"]["stored"] == {"digest": "new", "at": "11:00"}


def a_server(name: str, **changes: str) -> dict[str, object]:
    told = {"role": "all", "state": "serving", "config_digest": "0123456789abcdef"}
    return {"name": name, **told, **changes}


def test_several_servers_are_told_with_what_each_runs() -> None:
    servers = [a_server("one:1"), a_server("two:2", role="worker", state="stopping")]
    several = replace(READY, body={"servers": servers})

    assert (
        "servers: 2 alive: one:1 (all, serving, config 0123456789ab), "
        "two:2 (worker, stopping, config 0123456789ab)"
    ) in list(status_lines(several))
    assert status_document(several)["servers"] == servers


def test_a_server_that_is_alone_is_not_told_of() -> None:
    lines = status_lines(replace(READY, body={"servers": [a_server("one:1")]}))

    assert not [line for line in lines if line.startswith("servers")]


def test_a_provider_that_is_left_alone_and_what_was_taken_have_lines_of_their_own() -> None:
    usage = {"calls": 3, "input_tokens": 300, "output_tokens": 40}
    extraction = {
        "provider": "openai",
        "state": "failing",
        "circuit": {
            "state": "open",
            "since": "12:00",
            "next_probe": "12:05",
            "because": "it cannot be reached",
            "to_do": "wait",
        },
        "spending": {
            "this_hour": usage,
            "today": usage,
            "budget": {"calls_per_hour": 3, "tokens_per_hour": 500},
            "waiting": "budget of 3 calls an hour is spent (3 of 3), goes on at 13:00 UTC",
        },
    }

    assert list(lines_of_parts({"extraction": extraction}, None, None)) == [
        "extraction: provider=openai, state=failing",
        "circuit of extraction: open since 12:00, next probe 12:05, because it cannot be reached; "
        "wait",
        "spending: this hour 3 calls, 300 tokens in, 40 out; today 3 calls, 300 tokens in, 40 out; "
        "budget 3 calls and 500 tokens an hour; budget of 3 calls an hour is spent (3 of 3), goes "
        "on at 13:00 UTC",
    ]
