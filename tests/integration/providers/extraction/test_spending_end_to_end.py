"""What extraction takes of a model, from the calls to what an operator is shown."""

from datetime import timedelta
from pathlib import Path

import httpx

from memory_server.app import create_app
from memory_server.application import Application
from tests.chat_server import READ, WROTE, ChatServer, says, says_items
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.integration.providers.extraction.hosted import OWNER, HostedModels, status
from tests.integration.providers.extraction.llm_talk import BOSTON
from tests.unit.memory_server.api.application import an_application
from tests.unit.memory_server.services.conftest import a_turn

GOOD = says_items(BOSTON)


async def test_what_was_taken_is_shown_to_operators_and_to_prometheus(
    application: Application, caller: httpx.AsyncClient, chat_server: ChatServer
) -> None:
    chat_server.will(says("no"), GOOD)
    await application.runner.run_until_idle()

    jobs = (await caller.get("/api/v1/admin/jobs")).json()
    metrics = (await caller.get("/metrics")).text
    _, told = await status(application, caller)
    taken = {"calls": 2, "input_tokens": 2 * READ, "output_tokens": 2 * WROTE}
    assert jobs["spending"] == {
        "this_hour": taken,
        "today": taken,
        "budget": {"calls_per_hour": 1000, "tokens_per_hour": None},
        "waiting": None,
        "waiting_until": None,
    }
    assert (
        "spending: this hour 2 calls, 22 tokens in, 14 out; today 2 calls, 22 tokens in, 14 out; "
        "budget 1000 calls an hour"
    ) in told
    labels = 'model="tiny",provider="openai",type="semantic"'
    assert f"memory_server_model_calls_total{{{labels}}} 2.0" in metrics
    assert f'memory_server_model_tokens_total{{direction="input",{labels}}} 22.0' in metrics
    assert 'memory_server_circuit_open{purpose="extraction"} 0.0' in metrics
    assert "memory_server_budgets_spent 0.0" in metrics


async def test_a_spent_budget_holds_jobs_up_until_the_next_hour_and_says_so(
    tmp_path: Path, clock: ManualClock, chat_server: ChatServer
) -> None:
    chat_server.default = GOOD
    joined = an_application(
        tmp_path,
        clock,
        HostedModels(),
        extraction_llm={"provider": "openai", "model": "tiny", "base_url": chat_server.url},
        extraction={"enabled": ["semantic"], "budget": {"calls_per_hour": 2}},
    )
    await joined.store.open()
    for number in range(5):
        turn = a_turn("I always fly out of Boston.", session=f"s-{number}")
        await joined.recording.record(a_scope(user_id=f"u-{number}"), turn)
    await joined.promotion.flush("shop")
    transport = httpx.ASGITransport(create_app(joined))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=OWNER
    ) as caller:
        clock.advance(by=timedelta(minutes=10))
        await joined.runner.run_until_idle()

        found = (await caller.get("/api/v1/admin/jobs")).json()
        waiting = [job for job in found["jobs"] if job["state"] == "queued"]
        reason = "budget of 2 calls an hour is spent (2 of 2), goes on at 13:00 UTC"
        assert len(chat_server.received) == 2
        assert found["spending"]["waiting"] == reason
        assert found["spending"]["waiting_until"] == "2026-01-31T13:00:00+00:00"
        assert [(job["error_code"], job["error"], job["attempts"]) for job in waiting] == [
            ("BUDGET_SPENT", reason, 0)
        ] * 3
        state, told = await status(joined, caller)
        assert state == "ready"
        assert f"extraction of project shop: {reason}" in told
        assert "memory_server_budgets_spent 1.0" in (await caller.get("/metrics")).text

        clock.advance(by=timedelta(minutes=50))
        await joined.runner.run_until_idle()
        assert len(chat_server.received) == 4
        clock.advance(by=timedelta(hours=1))
        await joined.runner.run_until_idle()
        counts = (await caller.get("/api/v1/admin/jobs")).json()["counts"]
        assert (counts["done"], counts["queued"], counts["failed"]) == (5, 0, 0)
    await joined.close()
