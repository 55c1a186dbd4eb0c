"""A server process that is configured over HTTP only: killed, restarted, applied to under load."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_server.client import MemoryServerClient
from memory_server.errors import InvalidProjectConfig, ManagedElsewhere
from tests.integration.providers.embedding.embedding_server import EmbeddingServer, Reply, serving
from tests.wire.remote_process import (
    APPLY,
    CONFIG,
    KEY,
    LOCAL,
    LOUD,
    PATIENCE,
    RUNTIME,
    TURNS,
    Server,
    drained,
    running,
    until_ready,
)


def test_a_configuration_stored_by_a_process_that_was_killed_is_pending_in_the_next(
    tmp_path: Path,
) -> None:
    with running(tmp_path) as server:
        stored = server.put(LOUD)
        server.kill()

    with running(tmp_path) as server:
        shown = server.config()
        assert shown["pending"]
        assert shown["stored"] == {
            "digest": stored["digest"],
            "stored_at": stored["stored_at"],
            "memory": LOUD,
        }
        assert shown["running"]["source"] == "built_in"
        assert server.owner.post(APPLY).json()["applied"]


def test_an_applied_configuration_runs_after_a_kill_with_its_keys(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.owner.put("/api/v1/projects/local/secrets/LLM_API_KEY", json={"value": "k-1"})
        server.put(LOUD)
        server.owner.post(APPLY)
        server.kill()

    with running(tmp_path) as server:
        shown = server.config()
        assert (shown["pending"], shown["running"]["memory"]) == (False, LOUD)
        assert shown["running"]["source"] == "applied"
        assert server.owner.post(APPLY).json()["changes"] == []
        assert server.owner.get("/ready").json()["config_digest"] == shown["running"]["digest"]


@pytest.mark.parametrize("seconds", [0, 0.003, 0.006, 0.012])
def test_a_kill_amid_an_apply_leaves_the_old_or_the_new_configuration(
    tmp_path: Path, seconds: float
) -> None:
    with running(tmp_path) as server:
        server.put(LOCAL)
        server.owner.post(APPLY)
        server.put(LOUD)
        answered = killed_while_applying(server, seconds)

    with running(tmp_path) as server:
        shown = server.config()
        assert shown["running"]["memory"] in ((LOUD,) if answered else (LOCAL, LOUD))
        assert shown["pending"] is (shown["running"]["memory"] == LOCAL)
        assert server.owner.post(APPLY).status_code == 200
        assert server.config()["running"]["memory"] == LOUD
        assert server.owner.post(TURNS, json=a_turn(0)).status_code == 201


def killed_while_applying(server: Server, seconds: float) -> bool:
    """Apply, end the process after that time, and return whether it answered before."""
    killing = threading.Timer(seconds, server.kill)
    killing.start()
    try:
        return server.owner.post(APPLY).is_success
    except httpx.TransportError:
        return False
    finally:
        killing.join()


def test_a_kill_before_the_new_models_answer_leaves_the_old_configuration(
    tmp_path: Path,
) -> None:
    with serving(384) as provider, running(tmp_path) as server:
        provider.rules.append(lambda _: Reply(hangs=True))
        server.put(LOCAL)
        server.owner.post(APPLY)
        server.owner.put(KEY, json={"value": "k-1"})
        server.put(elsewhere(provider))
        applying = threading.Thread(target=killed_while_applying, args=(server, PATIENCE))
        applying.start()
        assert provider.arrived.wait(PATIENCE)
        assert server.owner.get(RUNTIME).json()["apply"]["running"]
        assert server.owner.post(APPLY).json()["code"] == "APPLY_IN_PROGRESS"
        assert server.owner.post(TURNS, json=a_turn(0)).status_code == 201
        server.kill()

    with running(tmp_path) as server:
        shown = server.config()
        assert (shown["running"]["memory"], shown["pending"]) == (LOCAL, True)
        assert server.owner.post(TURNS, json=a_turn(0)).json()["turn_seq"] == 2


def elsewhere(provider: EmbeddingServer) -> dict[str, Any]:
    """Return a configuration that embeds by a provider."""
    return {
        "embedding": {
            "provider": "openai",
            "model": "hashing",
            "dimension": provider.dimension,
            "base_url": provider.address,
            "api_key_secret": "OPENAI_API_KEY",
        },
        "extraction_llm": {"provider": "local"},
    }


def a_turn(number: int) -> dict[str, str]:
    return {
        "session_id": f"s{number}",
        "user_id": f"u{number}",
        "role": "user",
        "content": f"I live in town {number} and like tea.",
    }


def test_no_turn_is_lost_or_refused_while_configurations_are_applied(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        until_ready(server)
        seqs, refused = asyncio.run(under_load(server, applies=8))

        assert refused == []
        assert all(found == list(range(1, len(found) + 1)) for found in seqs)
        assert sum(map(len, seqs)) > 0
        drained(server)
        server.kill()

    with running(tmp_path) as server:
        for number, found in enumerate(seqs):
            again = server.owner.post(TURNS, json=a_turn(number)).json()
            assert again["turn_seq"] == len(found) + 1


async def under_load(server: Server, *, applies: int) -> tuple[list[list[int]], list[str]]:
    """Record turns in four sessions and ask for readiness while applying; return the numbers."""
    done = asyncio.Event()
    refused: list[str] = []

    async with httpx.AsyncClient(
        base_url=server.owner.base_url, trust_env=False, timeout=PATIENCE
    ) as client:

        async def asked(method: str, path: str, body: object, good: int) -> httpx.Response:
            answer = await client.request(method, path, json=body, headers=server.owner.headers)
            if answer.status_code != good:
                refused.append(f"{method} {path}: {answer.status_code} {answer.text}")
            return answer

        async def write(number: int) -> list[int]:
            found = []
            while not done.is_set():
                answer = await asked("POST", TURNS, a_turn(number), 201)
                found.append(answer.json()["turn_seq"])
            return found

        async def look() -> None:
            while not done.is_set():
                await asked("GET", "/ready", None, 200)

        work = [asyncio.create_task(write(number)) for number in range(4)]
        looking = asyncio.create_task(look())
        for number in range(applies):
            memory = LOCAL | {
                "log_level": "info" if number % 2 else "warning",
                "short_term": {"embed_on_write": number % 4 < 2},
                "background_extraction": {"snapshot": {"max_messages": 5}},
            }
            await asked("PUT", CONFIG, {"memory": memory}, 200)
            answer = await asked("POST", APPLY, {}, 200)
            assert answer.json().get("applied"), answer.text
        done.set()
        await looking
        return list(await asyncio.gather(*work)), refused


def test_a_provider_has_to_answer_before_the_server_uses_it(tmp_path: Path) -> None:
    with serving(64) as provider, running(tmp_path) as server:
        provider.rules.append(lambda _: Reply(status=401))
        server.put(elsewhere(provider))
        missing = server.owner.post(APPLY).json()
        server.owner.put(KEY, json={"value": "k-secret-1"})
        rejected = server.owner.post(APPLY)
        before = server.owner.get(RUNTIME).json()
        provider.rules.clear()
        applied = server.owner.post(APPLY)
        after = server.owner.get(RUNTIME).json()

    assert missing["code"] == "PROVIDER_KEY_MISSING"
    assert (rejected.status_code, rejected.json()["code"]) == (502, "ROLL_FAILED")
    assert "embedding: " in rejected.json()["error"]
    assert before["providers"]["embedding"]["provider"] == "local"
    assert before["apply"]["error"] == rejected.json()["error"]
    assert applied.json()["applied"]
    assert after["providers"]["embedding"].items() >= {"model": "hashing", "state": "ok"}.items()
    assert provider.requests[-1].headers["Authorization"] == "Bearer k-secret-1"
    assert "k-secret-1" not in "".join(server.log)


def test_vectors_keep_the_model_that_made_them(tmp_path: Path) -> None:
    fact = {"label": "l", "text": "t", "user_id": "u"}
    with serving(64) as provider, running(tmp_path) as server:
        server.owner.put(KEY, json={"value": "k"})
        server.put(elsewhere(provider))
        server.owner.post(APPLY)
        server.owner.post("/api/v1/memory/semantic", json=fact)
        server.put(LOCAL)
        refused = server.owner.post(APPLY)
        embedding = server.owner.get(RUNTIME).json()["providers"]["embedding"]

    assert (refused.status_code, refused.json()["code"]) == (409, "EMBEDDING_SPACE_CHANGED")
    assert "hashing@64 -> bge-small-en-v1.5@384" in refused.json()["error"]
    assert embedding["model"] == "hashing"


def test_the_level_of_the_log_changes_with_the_configuration(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.put(LOCAL | {"log_level": "critical"})
        server.owner.post(APPLY)
        quiet = len(server.log)
        server.put(LOCAL | {"log_level": "info"})
        server.owner.post(APPLY)
        server.put(LOCAL | {"log_level": "debug"})
        server.owner.post(APPLY)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0

    said = [line for line in server.log[quiet:] if "applying: " in line]
    assert ["info -> debug" in line or "(default) -> debug" in line for line in said] == [True]


def test_a_configuration_that_was_delivered_wins_and_says_so(tmp_path: Path) -> None:
    delivered = tmp_path / "delivered.json"
    delivered.write_text(json.dumps(LOCAL | {"log_level": "warning"}))
    with running(tmp_path) as server:
        server.put(LOUD)
        server.owner.post(APPLY)

    with running(tmp_path, AGENTENGINE_MEMORY_CONFIG=str(delivered)) as server:
        shown = server.config()
        assert shown["running"]["source"] == "delivered"
        assert shown["running"]["memory"]["log_level"] == "warning"
        assert not shown["pending"]
        assert "is not used" in shown["warnings"][0]
        assert server.owner.get(RUNTIME).json()["warnings"] == shown["warnings"]
        for answer in (
            server.owner.put(CONFIG, json={"memory": LOUD}),
            server.owner.post(APPLY),
            server.owner.put("/api/v1/projects/local/secrets/LLM_API_KEY", json={"value": "v"}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "MANAGED_ELSEWHERE")
            assert "agentengine" in answer.json()["error"]

    with running(tmp_path) as server:
        assert server.config()["running"]["memory"] == LOUD


def test_a_damaged_configuration_is_named_instead_of_ignored(tmp_path: Path) -> None:
    with running(tmp_path):
        pass
    (tmp_path / "data" / "configuration.applied.json").write_text("{")

    done = subprocess.run(
        [sys.executable, "-m", "memory_server", "--port", "0"],
        env=os.environ | {"AGENTENGINE_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert done.returncode == 1
    assert "configuration.applied.json is damaged" in done.stderr
    assert "Traceback" not in done.stderr


async def test_the_client_configures_a_server(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        token = (tmp_path / "data" / "owner-token").read_text()
        async with MemoryServerClient(str(server.owner.base_url), token=token) as client:
            with pytest.raises(InvalidProjectConfig) as raised:
                await client.deployment.put_config({"log_level": "loud"})
            stored = await client.deployment.put_config(LOUD)
            applied = await client.deployment.apply()
            runtime = await client.deployment.runtime()
            await client.deployment.put_secret("LLM_API_KEY", "v")
            secrets = await client.deployment.secrets()

    assert raised.value.details["errors"][0]["loc"] == ["body", "memory", "log_level"]
    assert applied["digest"] == stored["digest"]
    assert runtime["state"] == "ready"
    assert [secret["name"] for secret in secrets] == ["LLM_API_KEY"]


async def test_the_client_is_told_by_its_class_who_manages_a_server(tmp_path: Path) -> None:
    delivered = tmp_path / "delivered.json"
    delivered.write_text(json.dumps(LOCAL))
    with running(tmp_path, AGENTENGINE_MEMORY_CONFIG=str(delivered)) as server:
        token = (tmp_path / "data" / "owner-token").read_text()
        async with MemoryServerClient(str(server.owner.base_url), token=token) as client:
            with pytest.raises(ManagedElsewhere):
                await client.deployment.put_config(LOUD)
