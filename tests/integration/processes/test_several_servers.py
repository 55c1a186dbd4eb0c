"""Real server processes that share a database."""

import re
import signal
from pathlib import Path
from typing import Any

import psutil
import pymongo

from tests.integration.processes.conftest import ADMIN, TURNS, Start, is_ready
from tests.processes import ServerProcess, until


def say(server: ServerProcess, session: str) -> dict[str, Any]:
    turn = {"session_id": session, "role": "user", "content": "I live in Oslo.", "user_id": "ana"}
    answer = server.ask("POST", TURNS, json=turn)
    assert answer.status_code == 201, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


def served_by(server: ServerProcess) -> set[str]:
    """Return the ids of the processes that answer, of several on one port."""
    return {str(server.ready()["pid"]) for _ in range(8)}


def two(pids: set[str]) -> set[str] | None:
    return pids if len(pids) > 1 else None


def worked_off(server: ServerProcess) -> dict[str, int] | None:
    """Return how many jobs there are once some are done."""
    counts: dict[str, int] = server.ask("GET", f"{ADMIN}/jobs").json()["counts"]
    return counts if counts["done"] else None


def both_seen(server: ServerProcess) -> dict[str, Any] | None:
    """Return the readiness document once it tells of two servers."""
    document = server.ready()
    return document if len(document["servers"]) == 2 else None


def test_one_server_records_and_the_other_extracts(start: Start) -> None:
    api = start("api", "--role", "api")
    api.until(is_ready)
    alone = api.ready()["warnings"]
    worker = start("worker", "--role", "worker")
    worker.until(is_ready)

    say(api, "s1")
    api.ask("POST", f"{ADMIN}/flush")

    counts = api.until(worked_off)
    elsewhere = worker.ask("POST", TURNS, json={})
    together = api.until(both_seen)
    assert alone[0].startswith("no server that does background work is alive")
    assert counts["failed"] == 0
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (421, "WORKER_ONLY")
    assert [one["role"] for one in together["servers"]] == ["api", "worker"]
    assert together["warnings"] == []


def test_processes_that_share_a_port_serve_one_memory_and_outlive_each_other(
    start: Start, mongodb: str, database: str
) -> None:
    server = start("several", "--workers", "2")
    server.until(is_ready)
    both = until(lambda: two(served_by(server)))

    seqs = [say(server, "s1")["turn_seq"] for _ in range(10)]
    psutil.Process(int(min(both))).kill()
    after = [say(server, "s1")["turn_seq"] for _ in range(3)]
    until(lambda: two(served_by(server) - {min(both)}))
    server.signal(signal.SIGTERM)

    assert server.ended() == 0
    assert [*seqs, *after] == [*range(1, 14)]
    with pymongo.MongoClient[dict[str, Any]](mongodb) as client:
        names = [name for name in client.list_database_names() if name.startswith(database)]
        left = [one["pid"] for one in client[names[0]]["servers"].find()]
    assert left == [int(min(both))]


def test_a_server_with_another_owner_token_does_not_start(start: Start, tmp_path: Path) -> None:
    first = start("first")
    first.until(is_ready)
    other = tmp_path / "another-token"
    other.write_text("another-owner-token-of-one-server")

    second = start("second", AGENTENGINE_OWNER_TOKEN_FILE=str(other))

    assert second.ended() == 1
    told = "\n".join(second.told)
    assert "AGENTENGINE_OWNER_TOKEN_FILE" in told
    assert "another-owner-token" not in told
    assert [len(first.ready()["servers"]), is_ready(first)] == [1, True]


def test_what_one_server_applies_the_other_follows(start: Start) -> None:
    first, second = start("first"), start("second")
    for server in (first, second):
        server.until(is_ready)
    memory = {
        "embedding": {"provider": "local"},
        "extraction_llm": {"provider": "local"},
        "log_level": "debug",
    }
    first.ask("PUT", f"{ADMIN}/config", json={"memory": memory})
    applied = first.ask("POST", f"{ADMIN}/apply").json()

    def followed(server: ServerProcess) -> dict[str, Any] | None:
        running: dict[str, Any] = server.ask("GET", f"{ADMIN}/runtime").json()["config"]["running"]
        return running if running["digest"] == applied["digest"] else None

    running = second.until(followed)
    refused = second.ask(
        "PUT", "/api/v1/projects/shop/secrets/OPENAI_API_KEY", json={"value": "tell-nobody"}
    )

    assert applied["applied"]
    assert running["source"] == "applied"
    assert (refused.status_code, refused.json()["code"]) == (409, "SECRET_NOT_SERVED")
    assert not re.search("tell-nobody", refused.text + "".join(first.told + second.told))
