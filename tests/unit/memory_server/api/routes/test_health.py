import asyncio
import os
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.errors import KeyRejected
from memory_server.providers.embedding.deterministic import HashingEmbedder
from tests.clock import ManualClock


async def test_the_process_is_alive_whatever_else_fails(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.store.close()

    answer = await client.get("/health")

    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert answer.json()["version"]


async def test_a_server_whose_models_are_being_checked_is_not_ready(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/ready")

    assert (answer.status_code, answer.json()["status"]) == (503, "starting")
    assert answer.json()["blocked_on"] == [
        "embedding: being checked",
        "extraction: being checked",
        "background: being started",
    ]


async def test_a_ready_server_says_who_it_is_and_what_it_uses(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.readiness.probe()
    application.background.began()

    answer = await client.get("/ready")

    body = answer.json()
    assert (answer.status_code, body["status"], body["blocked_on"]) == (200, "ready", [])
    assert (body["project_id"], body["pid"]) == ("shop", os.getpid())
    assert (body["instance_id"], body["config_digest"]) == ("instance-1", "digest-1")
    assert (body["store"]["kind"], body["search"]["kind"]) == ("sqlite", "local")
    assert body["embedding"].items() >= {"provider": "hashing", "state": "ok"}.items()
    assert body["extraction"]["state"] == "ok"
    assert body["background"] == {"state": "running", "problem": None}


async def test_a_server_without_its_store_says_so(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.readiness.probe()
    await application.store.close()

    answer = await client.get("/ready")

    assert (answer.status_code, answer.json()["status"]) == (503, "blocked")
    assert answer.json()["blocked_on"][0].startswith("store: ")


async def passing(application: Application) -> None:
    """Let what was begun go on for a while."""
    for _ in range(50):
        await application.store.jobs.counts()


async def test_background_work_that_ends_makes_the_server_not_ready(
    client: httpx.AsyncClient, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end() -> None:
        return

    monkeypatch.setattr(application.runner, "run", end)
    with pytest.raises(ExceptionGroup):
        await application.run(asyncio.Event())

    answer = (await client.get("/ready")).json()
    assert (answer["status"], answer["background"]["state"]) == ("blocked", "stopped")
    assert answer["blocked_on"] == ["background: it ended with ExceptionGroup: see the log"]


async def test_call_that_fails_is_seen_by_readiness_without_waiting_for_the_next_check(
    client: httpx.AsyncClient, application: Application, clock: ManualClock
) -> None:
    stopping = asyncio.Event()
    running = asyncio.create_task(application.run(stopping))
    await passing(application)
    assert (await client.get("/ready")).json()["status"] == "ready"

    embedder = application.providers.embedder
    assert isinstance(embedder, HashingEmbedder)
    embedder.failure = KeyRejected("the key was revoked")
    await client.post("/api/v1/memory/search", json={"type": "semantic", "query": "x"})
    for _ in range(2):
        clock.advance(1.5)
        await passing(application)

    [reason] = (await client.get("/ready")).json()["blocked_on"]
    assert reason.startswith("embedding: provider hashing: circuit open since")
    assert "because the key was revoked; store a valid key" in reason
    stopping.set()
    await running


async def as_seen_from_elsewhere(
    application: Application, headers: Mapping[str, str]
) -> dict[str, Any]:
    transport = httpx.ASGITransport(create_app(application), client=("203.0.113.9", 4000))
    async with httpx.AsyncClient(transport=transport, base_url="http://memory.test") as caller:
        answer: dict[str, Any] = (await caller.get("/ready", headers=headers)).json()
    return answer


@pytest.mark.parametrize("token", [None, "Bearer of-somebody", "Basic x", "Bearer"])
async def test_a_stranger_is_told_nothing_of_the_machine(
    application: Application, token: str | None
) -> None:
    await application.readiness.probe()
    application.background.ended("/srv/memory/data/memory.db: the disk is full")

    body = await as_seen_from_elsewhere(application, {"Authorization": token} if token else {})

    assert (body["status"], body["local_models"], body["pid"]) == ("blocked", False, None)
    assert body["blocked_on"] == ["background: (a path): the disk is full"]
    assert body["store"].keys() == {"kind", "schema_version", "traces"}
    assert body["version"]
    assert body["instance_id"]


async def test_the_owner_token_shows_it_from_anywhere(
    application: Application, owner: dict[str, str]
) -> None:
    body = await as_seen_from_elsewhere(application, owner)

    assert body["pid"] == os.getpid()
    assert body["store"].keys() >= {"location", "size_bytes"}


async def test_an_address_of_the_web_is_no_path(application: Application) -> None:
    application.background.ended("http://127.0.0.1:11434/v1/models does not answer")

    body = await as_seen_from_elsewhere(application, {})

    assert "http://127.0.0.1:11434/v1/models does not" in body["background"]["problem"]
