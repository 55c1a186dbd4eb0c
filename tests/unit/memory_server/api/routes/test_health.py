import os

import httpx

from memory_server.bootstrap import Application


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
    assert answer.json()["blocked_on"] == ["embedding: being checked", "extraction: being checked"]


async def test_a_ready_server_says_who_it_is_and_what_it_uses(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.readiness.probe()

    answer = await client.get("/ready")

    body = answer.json()
    assert (answer.status_code, body["status"], body["blocked_on"]) == (200, "ready", [])
    assert (body["project_id"], body["pid"]) == ("shop", os.getpid())
    assert (body["instance_id"], body["config_digest"]) == ("instance-1", "digest-1")
    assert (body["store"]["kind"], body["search"]["kind"]) == ("sqlite", "local")
    assert body["embedding"].items() >= {"provider": "hashing", "state": "ok"}.items()
    assert body["extraction"]["state"] == "ok"


async def test_a_server_without_its_store_says_so(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.readiness.probe()
    await application.store.close()

    answer = await client.get("/ready")

    assert (answer.status_code, answer.json()["status"]) == (503, "blocked")
    assert answer.json()["blocked_on"][0].startswith("store: ")
