"""From an empty directory to an agent that remembers, by the commands a user types."""

import json
import os
import signal
from pathlib import Path

import httpx
import psutil
import pytest
from agent_engine_sdk_memory import Memory, MemoryRequestContext

from tests.acceptance.conftest import Shell


@pytest.mark.both_stores
def test_empty_directory_to_an_answer_from_memory(empty: Shell) -> None:
    empty.ok("create", "--memory-only", "--name", "My Project")
    shell = Shell(empty.directory / "my-project", empty.home)
    shell.ok("memory", "validate")
    assert "state: not_provisioned" in shell.ok("memory", "status").out
    shell.ok("memory", "configure", "--yes")
    shell.ok("memory", "apply", "--wait")
    try:
        assert "state: ready" in shell.ok("memory", "status").out.splitlines()
        shell.ok("invoke", "--user-id", "ana", "I always fly out of Boston.")
        answer = shell.ok("invoke", "--user-id", "ana", "--json", "Where do I fly from?").document
        assert "Boston" in answer["response"]
    finally:
        shell.ok("dev", "stop")
    assert shell.status()["state"] == "stopped"


def test_status_tells_all_that_a_script_needs(running: Shell) -> None:
    status = running.status()

    assert status["state"] == "ready"
    assert set(status) >= {
        "state",
        "blocked_on",
        "url",
        "pid",
        "project_id",
        "store",
        "search",
        "embedding",
        "extraction",
        "config",
    }
    assert set(status["config"]) >= {"stored", "applied", "pending"}
    assert status["config"]["pending"] is False


@pytest.mark.both_stores
def test_imported_conversation_is_remembered_with_evidence(running: Shell, tmp_path: Path) -> None:
    lines = [
        {"session_id": "s1", "user_id": "ana", "role": "user", "content": text}
        for text in ("I always fly out of Boston.", "I am allergic to shellfish.")
    ]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")

    imported = running.ok("memory", "import", str(file), "--json").document
    again = running.ok("memory", "import", str(file), "--json").document
    running.ok("memory", "flush")
    shown = running.ok("memory", "show", "--user-id", "ana", "--json").document

    texts = [memory["content"] for memory in shown["memories"] if memory["type"] == "semantic"]
    assert (imported["skipped"], again["skipped"]) == (0, 2)
    assert any("Boston" in text for text in texts)
    assert any("shellfish" in text for text in texts)
    assert len(texts) == len(set(texts))
    evidence = [turn for m in shown["memories"] for e in m["evidence"] for turn in e["turns"]]
    assert evidence
    assert {turn["content"] for turn in evidence} <= {line["content"] for line in lines}


def test_killed_server_loses_no_acknowledged_turn_and_no_job(running: Shell) -> None:
    status = running.status()
    seqs = _talk(status["url"], turns=50)

    os.kill(status["pid"], signal.SIGKILL)
    psutil.wait_procs([psutil.Process(status["pid"])] if psutil.pid_exists(status["pid"]) else [])
    assert running.status()["state"] == "crashed"
    running.ok("memory", "apply", "--wait")

    assert seqs == list(range(1, 51))
    assert _talk(running.status()["url"], turns=1) == [51]
    running.ok("memory", "flush")
    jobs = running.ok("memory", "jobs", "--json").document
    # Twice twenty turns by size, the rest by the flush; one job for each of the four types.
    assert (jobs["counts"]["done"], jobs["counts"]["failed"]) == (12, 0)


def test_changed_configuration_is_pending_until_it_is_applied(running: Shell) -> None:
    file = running.directory / "project-config.yaml"
    text = file.read_text(encoding="utf-8").replace("#log_level: info", "log_level: debug")
    file.write_text(text, encoding="utf-8")

    running.ok("memory", "configure", "--yes")
    assert running.status()["config"]["pending"] is True
    assert "pending" in running.ok("memory", "status").out
    running.ok("memory", "apply", "--wait")

    assert running.status()["config"]["pending"] is False


def test_service_account_is_the_memory_identity(running: Shell) -> None:
    account = running.ok(
        "service-account", "create", "bot", "--role", "AGENT_DEVELOPER", "--json"
    ).document
    client_id = account["service_account"]["client_id"]

    answer = running.ok(
        "invoke",
        "--user-id",
        "ana",
        "--json",
        "I always fly out of Boston.",
        AGENTENGINE_CLIENT_ID=client_id,
        AGENTENGINE_CLIENT_SECRET=account["client_secret"],
    )

    assert answer.document["identity"] == {
        "kind": "service_account",
        "user_id": client_id,
        "overridden": True,
        "delegated": False,
    }
    assert "user_id is ignored" in answer.err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [(("memroy", "status"), "memory"), (("memory", "aply"), "apply")],
)
def test_unknown_command_suggests_the_nearest(
    empty: Shell, arguments: tuple[str, ...], hint: str
) -> None:
    answer = empty.run(*arguments)

    assert (answer.code, answer.out) == (2, "")
    assert hint in answer.err


def test_missing_key_is_refused_before_anything_starts(project: Shell) -> None:
    hosted = "memory:\n  extraction:\n    enabled: [semantic]\n"
    (project.directory / "project-config.yaml").write_text(hosted, encoding="utf-8")
    project.ok("memory", "configure", "--yes")

    refused = project.run("memory", "apply", "--wait", VOYAGE_API_KEY="found-in-the-shell-only")

    assert refused.code == 1
    for name in ("VOYAGE_API_KEY", "OPENAI_API_KEY", "LLM_API_KEY", "--local-models"):
        assert name in refused.err
    assert "found-in-the-shell-only" not in refused.err
    assert project.status()["pid"] is None


def test_hosted_configuration_runs_offline_with_local_models(project: Shell) -> None:
    hosted = "memory:\n  extraction:\n    enabled: [semantic]\n"
    (project.directory / "project-config.yaml").write_text(hosted, encoding="utf-8")
    project.ok("memory", "configure", "--yes")

    project.ok("memory", "apply", "--wait", "--local-models")

    assert project.status()["state"] == "ready"


def _talk(url: str, *, turns: int) -> list[int]:
    """Record turns with the official SDK; return the numbers they were acknowledged under."""
    assert httpx.get(f"{url}/health").status_code == 200
    with Memory(base_url=url) as memory:
        handle = memory.bind(MemoryRequestContext(user_id="ana", session_id="talk"))
        return [
            handle.record_turn(role="user", content=f"line {number}").turn_seq
            for number in range(turns)
        ]
