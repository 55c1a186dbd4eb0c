import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_server.app import create_app
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import CONFIG, FakeModels, an_application

ADMIN = "/api/v1/admin"
SECRETS = "/api/v1/projects/shop/secrets"
LOUD = CONFIG | {"log_level": "debug"}


@pytest.fixture
async def served(tmp_path: Path, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
    """The owner of a server that works."""
    app = create_app(an_application(tmp_path, clock, FakeModels()))
    headers = {"Authorization": "Bearer the-owner-token-of-the-tests"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost", headers=headers
        ) as client,
    ):
        yield client


async def put(client: httpx.AsyncClient, memory: object) -> httpx.Response:
    return await client.put(f"{ADMIN}/config", json={"memory": memory})


async def test_a_fresh_server_shows_what_is_built_in(served: httpx.AsyncClient) -> None:
    shown = (await served.get(f"{ADMIN}/config")).json()

    assert (shown["stored"], shown["pending"], shown["warnings"]) == (None, False, [])
    assert set(shown["running"]) == {"digest", "since", "memory", "source", "local_models"}
    assert (shown["running"]["memory"], shown["running"]["source"]) == (CONFIG, "built_in")


async def test_a_stored_configuration_runs_when_it_is_applied(served: httpx.AsyncClient) -> None:
    stored = (await put(served, LOUD)).json()
    between = (await served.get(f"{ADMIN}/config")).json()
    applied = (await served.post(f"{ADMIN}/apply", json={})).json()
    after = (await served.get(f"{ADMIN}/config")).json()

    assert set(stored) == {"digest", "stored_at", "pending", "changes", "warnings"}
    assert (between["pending"], between["stored"]["memory"]) == (True, LOUD)
    assert (applied["applied"], applied["digest"]) == (True, stored["digest"])
    assert (after["pending"], after["running"]["memory"]) == (False, LOUD)


async def test_every_problem_of_a_configuration_is_told_with_its_place(
    served: httpx.AsyncClient,
) -> None:
    answer = await put(served, {"log_level": "loud", "extraction": {"enabled": ["facts"]}})

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_PROJECT_CONFIG")
    assert [problem["loc"] for problem in answer.json()["errors"]] == [
        ["body", "memory", "log_level"],
        ["body", "memory", "extraction", "enabled", 0],
    ]
    assert (await served.get(f"{ADMIN}/config")).json()["stored"] is None


@pytest.mark.parametrize("body", [{}, {"memory": None}, {"memory": []}, {"memory": "x"}, []])
async def test_a_body_without_a_mapping_is_refused(served: httpx.AsyncClient, body: object) -> None:
    assert (await served.put(f"{ADMIN}/config", json=body)).status_code == 422


async def test_a_null_in_a_configuration_is_a_value(served: httpx.AsyncClient) -> None:
    memory = {"extraction_llm": {"provider": "local", "model": None}, **CONFIG}

    await put(served, memory)

    assert (await served.get(f"{ADMIN}/config")).json()["stored"]["memory"] == memory


async def test_what_looks_like_a_secret_is_in_no_answer_and_no_log(
    served: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="memory_server")
    key = "sk-abcdef0123456789abcdef"

    answers = [
        await put(served, {"extraction_llm": {"provider": "openai", "api_key_secret": key}}),
        await put(served, {"extraction_llm": {"provider": "openai", "model": key}}),
        await served.put(f"{SECRETS}/{key}", json={"value": "x"}),
        await served.put(f"{SECRETS}/LLM_API_KEY", json={"value": key, "description": 3}),
        await served.put(f"{SECRETS}/LLM_API_KEY", json={"value": [key]}),
        await served.put(f"{SECRETS}/LLM_API_KEY", json={"value": key}),
        await served.get(SECRETS),
        await served.post(f"{ADMIN}/apply"),
        await served.get(f"{ADMIN}/runtime"),
    ]

    statuses = [answer.status_code for answer in answers]
    assert statuses == [422, 422, 400, 422, 422, 200, 200, 409, 200]
    assert not [answer.text for answer in answers if key in answer.text]
    assert key not in caplog.text


async def test_a_refused_apply_says_why_and_the_server_serves_on(
    served: httpx.AsyncClient,
) -> None:
    await put(served, CONFIG | {"extraction_llm": {"provider": "openai"}})

    answer = await served.post(f"{ADMIN}/apply")

    assert (answer.status_code, answer.json()["code"]) == (409, "PROVIDER_KEY_MISSING")
    assert "OPENAI_API_KEY, then LLM_API_KEY" in answer.json()["error"]
    runtime = (await served.get(f"{ADMIN}/runtime")).json()
    assert runtime["state"] == "ready"
    assert runtime["apply"]["outcome"] == "failed"


async def test_two_applies_at_once_are_one_apply(served: httpx.AsyncClient) -> None:
    await put(served, LOUD)

    answers = await asyncio.gather(*(served.post(f"{ADMIN}/apply") for _ in range(2)))

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    [refused] = [answer.json() for answer in answers if answer.is_error]
    assert refused["code"] == "APPLY_IN_PROGRESS"


async def test_another_embedding_model_takes_over_when_no_request_is_left(
    served: httpx.AsyncClient,
) -> None:
    model = {"provider": "local", "model": "wordllama"}
    await put(served, CONFIG | {"embedding": model})
    await asyncio.gather(*(served.get("/api/v1/memory/semantic") for _ in range(3)))

    answer = await served.post(f"{ADMIN}/apply")

    assert answer.json()["applied"], answer.text
    assert (await served.get(f"{ADMIN}/config")).json()["running"]["memory"]["embedding"] == model


async def test_a_dry_run_is_said_in_the_body(served: httpx.AsyncClient) -> None:
    await put(served, LOUD)

    answer = (await served.post(f"{ADMIN}/apply", json={"dry_run": True})).json()

    assert answer["changes"] == ["memory.log_level: info (default) -> debug"]
    assert (await served.get(f"{ADMIN}/config")).json()["pending"]


async def test_the_runtime_tells_what_is_stored_what_runs_and_how_it_is(
    served: httpx.AsyncClient,
) -> None:
    await put(served, LOUD)

    runtime: dict[str, Any] = (await served.get(f"{ADMIN}/runtime")).json()

    assert (runtime["state"], runtime["blocked_on"]) == ("ready", [])
    assert runtime["config"].items() >= {"pending": True, "applied_at": None}.items()
    assert runtime["config"]["running"]["source"] == "built_in"
    assert set(runtime["providers"]) == {"embedding", "extraction"}
    assert runtime["worker"] == {"state": "running", "problem": None}
    assert runtime["projects"] == ["shop"]
    assert runtime["queue"].items() >= {"queued": 0, "running": 0, "failed": 0}.items()
    assert {"version", "index", "store", "apply", "warnings"} <= set(runtime)


@pytest.mark.parametrize("path", ["config", "runtime"])
async def test_callers_without_a_token_see_nothing_of_it(
    served: httpx.AsyncClient, path: str
) -> None:
    answer = await served.get(f"{ADMIN}/{path}", headers={"Authorization": ""})

    assert answer.status_code == 401


async def test_a_secret_is_set_listed_and_removed(served: httpx.AsyncClient) -> None:
    kept = await served.put(
        f"{SECRETS}/LLM_API_KEY", json={"value": "v", "description": "of the team"}
    )
    listed = (await served.get(SECRETS)).json()
    removed = await served.delete(f"{SECRETS}/LLM_API_KEY")
    again = await served.delete(f"{SECRETS}/LLM_API_KEY")

    entry = {"name": "LLM_API_KEY", "description": "of the team", "version": 1}
    assert kept.json().items() >= entry.items()
    assert listed["total"] == 1
    assert set(listed["secrets"][0]) == {*entry, "created_at", "updated_at"}
    assert (removed.status_code, again.status_code) == (204, 404)
    assert (await served.get(SECRETS)).json() == {"secrets": [], "total": 0}


async def test_a_secret_that_no_model_reads_is_kept_and_said_to_be_unread(
    served: httpx.AsyncClient,
) -> None:
    read = (await served.put(f"{SECRETS}/LLM_API_KEY", json={"value": "v"})).json()
    unread = (await served.put(f"{SECRETS}/MY_OPENAI_KEY", json={"value": "v"})).json()

    assert read["warnings"] == []
    assert "OPENAI_API_KEY" in unread["warnings"][0]


async def test_a_secret_of_another_project_is_refused_because_nothing_would_read_it(
    served: httpx.AsyncClient,
) -> None:
    await served.post("/api/v1/projects", json={"name": "Other", "id": "other"})
    await served.put(f"{SECRETS}/LLM_API_KEY", json={"value": "v"})
    path = "/api/v1/projects/other/secrets"

    refused = await served.put(f"{path}/LLM_API_KEY", json={"value": "v"})

    assert (refused.status_code, refused.json()["code"]) == (409, "SECRET_NOT_SERVED")
    assert "'shop'" in refused.json()["error"]
    assert (await served.get(path)).json() == {"secrets": [], "total": 0}
    assert (await served.delete(f"{path}/LLM_API_KEY")).status_code == 404


async def a_program(client: httpx.AsyncClient) -> dict[str, str]:
    """Return the headers of a service account that owns the project."""
    accounts = "/api/v1/projects/shop/service-accounts"
    made = (await client.post(accounts, json={"name": "ci", "roles": ["PROJECT_OWNER"]})).json()
    form = {
        "grant_type": "client_credentials",
        "client_id": made["service_account"]["client_id"],
        "client_secret": made["client_secret"],
    }
    token = (await client.post("/api/v1/oauth/token", data=form)).json()["access_token"]
    return {"Authorization": f"Bearer {token}"}


async def test_a_program_configures_what_sends_nothing_elsewhere(
    served: httpx.AsyncClient,
) -> None:
    headers = await a_program(served)

    stored = await served.put(f"{ADMIN}/config", json={"memory": LOUD}, headers=headers)
    applied = await served.post(f"{ADMIN}/apply", json={}, headers=headers)

    assert (stored.status_code, applied.json()["applied"]) == (200, True)


@pytest.mark.parametrize(
    ("block", "path"),
    [
        (
            {"extraction_llm": {"provider": "openai", "base_url": "https://llm.example/v1"}},
            "memory.extraction_llm.base_url",
        ),
        ({"extraction_llm": {"provider": "anthropic"}}, "memory.extraction_llm.provider"),
        ({"voyage": {"model": "voyage-4"}, "embedding": None}, "memory.embedding.provider"),
    ],
)
async def test_a_program_may_not_send_conversations_and_keys_elsewhere(
    served: httpx.AsyncClient, block: dict[str, Any], path: str
) -> None:
    memory = {name: value for name, value in (CONFIG | block).items() if value is not None}
    headers = await a_program(served)

    refused = await served.put(f"{ADMIN}/config", json={"memory": memory}, headers=headers)
    shown = (await served.get(f"{ADMIN}/config")).json()

    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
    assert path in refused.json()["error"]
    assert shown["stored"] is None
    assert (await put(served, memory)).status_code == 200


async def test_a_program_may_not_keep_secrets_whatever_its_role(
    served: httpx.AsyncClient,
) -> None:
    headers = await a_program(served)

    listed = await served.get(SECRETS, headers=headers)
    put = await served.put(f"{SECRETS}/LLM_API_KEY", json={"value": "v"}, headers=headers)

    assert (listed.status_code, put.status_code) == (403, 403)
