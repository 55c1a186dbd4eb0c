"""Every way in which a language model fails, from the job to what an operator is shown."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest

from memory_server.application import Application
from tests.chat_server import (
    BREAKS_OFF,
    DECLINES,
    FILTERED,
    HANGS,
    ChatServer,
    Reply,
    fails,
    says,
    says_items,
)
from tests.clock import ManualClock
from tests.factories import a_scope
from tests.integration.providers.extraction.hosted import status
from tests.integration.providers.extraction.llm_talk import BOSTON, KEY
from tests.unit.memory_server.services.conftest import a_turn

SECRET_PROSE = "Dear colleague, the user told me that they fly out of Boston."
GOOD = says_items(BOSTON)
GOOD_TEXT = str(GOOD.text)
TWO_ITEMS = str(says_items(BOSTON, {**BOSTON, "attribute": "second-and-cut-off"}).text)
BAD_ITEM = {**BOSTON, "evidence": [99], "value": "Paris-the-unfounded"}
LATIN = json.dumps({"choices": [{"message": {"content": "é"}}]}, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What the model answers, and what has to come of it."""

    name: str
    replies: Sequence[Reply]
    code: str | None
    told: str = ""
    """Words that the reason of the job holds."""
    raw: str = ""
    """What the operator reads of the answer."""
    blocked: str | None = None
    """Words that the status names the broken provider by; None: the server is ready."""
    waits: float = 2.0
    """Seconds until the job is tried again."""
    rejected: int = 0
    remembered: int = 1


_TWICE = 2
SURROUNDINGS = [
    Case(
        name="broken off in the middle of the answer",
        replies=[BREAKS_OFF],
        code="PROVIDER_UNAVAILABLE",
        blocked="cannot be reached",
    ),
    Case(
        name="no answer in time",
        replies=[HANGS],
        code="PROVIDER_UNAVAILABLE",
        told="did not answer within 1 seconds",
        blocked="did not answer within 1 seconds",
    ),
    Case(name="429", replies=[fails(429)], code="PROVIDER_RATE_LIMITED", waits=15),
    Case(
        name="429 with Retry-After",
        replies=[fails(429, retry_after="40")],
        code="PROVIDER_RATE_LIMITED",
        told="asks for fewer requests",
        waits=40,
    ),
    Case(
        name="500",
        replies=[fails(500)],
        code="PROVIDER_UNAVAILABLE",
        told="failed with status 500",
        blocked="failed with status 500",
    ),
    Case(
        name="503 with Retry-After",
        replies=[fails(503, retry_after="90")],
        code="PROVIDER_UNAVAILABLE",
        blocked="circuit open since",
        waits=90,
    ),
    Case(
        name="401",
        replies=[fails(401, message=f"bad key {KEY}")],
        code="KEY_REJECTED",
        blocked="store a valid key (agentengine secret set NAME)",
        waits=120,
    ),
    Case(
        name="403",
        replies=[fails(403)],
        code="KEY_REJECTED",
        blocked="circuit open since",
        waits=120,
    ),
    Case(
        name="404",
        replies=[fails(404, code="model_not_found")],
        code="MODEL_NOT_FOUND",
        told="knows no model 'tiny'",
        blocked="name a model that it has",
        waits=120,
    ),
    Case(
        name="another charset",
        replies=[Reply(body=LATIN.encode("latin-1"))],
        code="PROVIDER_UNAVAILABLE",
        blocked="answered what cannot be read",
    ),
]
CONTENT = [
    Case(
        name="too long",
        replies=[fails(400, code="context_length_exceeded")],
        code="INPUT_TOO_LONG",
    ),
    Case(
        name="refusal",
        replies=[DECLINES],
        code="MODEL_REFUSED",
        raw="I cannot help with that.",
    ),
    Case(name="filtered", replies=[FILTERED], code="MODEL_REFUSED"),
    Case(
        name="prose",
        replies=[says(SECRET_PROSE)] * _TWICE,
        code="INVALID_ANSWER",
        told="has no JSON of the agreed form, even after one repair",
        raw=SECRET_PROSE,
    ),
    Case(name="empty", replies=[says("")] * _TWICE, code="INVALID_ANSWER", told="is empty"),
]
DONE = [
    Case(
        name="an item that nothing bears out",
        replies=[says_items(BOSTON, BAD_ITEM)] * _TWICE,
        code=None,
        rejected=1,
        raw="Paris-the-unfounded",
    ),
    Case(
        name="cut off in the second item",
        replies=[says(TWO_ITEMS[:-40])],
        code=None,
        rejected=1,
        raw="second-and-cut-off",
    ),
    Case(
        name="cut off in the only item",
        replies=[says(GOOD_TEXT[:60])],
        code=None,
        rejected=1,
        raw="home_air",
        remembered=0,
    ),
    Case(
        name="JSON in a text",
        replies=[says(json.dumps(json.dumps({"memories": [BOSTON]})))],
        code=None,
    ),
    Case(
        name="JSON in prose", replies=[says(f"Here you are:\n```json\n{GOOD_TEXT}\n```")], code=None
    ),
]


async def the_job(caller: httpx.AsyncClient) -> dict[str, Any]:
    [job] = (await caller.get("/api/v1/admin/jobs")).json()["jobs"]
    return dict(job)


def ids(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", SURROUNDINGS, ids=ids)
async def test_a_failure_of_the_surroundings_is_told_waited_for_and_got_over(
    application: Application,
    caller: httpx.AsyncClient,
    clock: ManualClock,
    chat_server: ChatServer,
    caplog: pytest.LogCaptureFixture,
    case: Case,
) -> None:
    caplog.set_level(logging.DEBUG)
    chat_server.default = GOOD
    chat_server.will(*case.replies)
    # A single failure opens no circuit but where the cause says that no other call would do.
    await application.runner.run_until_idle()

    job = await the_job(caller)
    state, told = await status(application, caller)
    assert (job["state"], job["error_code"]) == ("queued", case.code)
    assert case.told in job["error"]
    assert job["result"]["calls"] == len(case.replies) == len(chat_server.received)
    assert state == ("ready" if case.blocked is None else "blocked")
    assert (case.blocked or "") in told
    assert KEY not in f"{job} {told} {caplog.text}"

    clock.advance(case.waits - 1)
    assert await application.runner.run_until_idle() == 0
    clock.advance(1)
    assert await application.runner.run_until_idle() == 1

    job = await the_job(caller)
    assert (job["state"], job["error_code"]) == ("done", None)
    assert job["result"]["calls"] == len(case.replies) + 1
    assert (await status(application, caller))[0] == "ready"
    assert "circuit closed" in caplog.text or "circuit open" not in caplog.text


@pytest.mark.parametrize("case", CONTENT, ids=ids)
async def test_a_failure_of_the_content_is_kept_with_the_raw_answer_and_retried_by_command(
    application: Application,
    caller: httpx.AsyncClient,
    chat_server: ChatServer,
    caplog: pytest.LogCaptureFixture,
    case: Case,
) -> None:
    caplog.set_level(logging.DEBUG, logger="memory_server")
    chat_server.will(*case.replies)
    await application.runner.run_until_idle()

    job = await the_job(caller)
    state, told = await status(application, caller)
    assert (job["state"], job["error_code"]) == ("failed", case.code)
    assert case.told in job["error"]
    assert case.raw in job["result"].get("raw", "")
    assert job["result"]["calls"] == len(case.replies)
    assert (state, "circuit" in told) == ("ready", False)
    assert not case.raw or case.raw not in f"{told} {caplog.text} {job['error']}"
    assert KEY not in f"{job} {told} {caplog.text}"

    chat_server.default = GOOD
    await caller.post(f"/api/v1/admin/jobs/{job['id']}/retry")
    await application.runner.run_until_idle()
    job = await the_job(caller)
    assert (job["state"], job["result"]["calls"]) == ("done", len(case.replies) + 1)
    assert "raw" not in job["result"]


@pytest.mark.parametrize("case", DONE, ids=ids)
async def test_what_is_usable_of_an_answer_is_used_and_the_rest_is_shown(
    application: Application,
    caller: httpx.AsyncClient,
    chat_server: ChatServer,
    caplog: pytest.LogCaptureFixture,
    case: Case,
) -> None:
    caplog.set_level(logging.DEBUG, logger="memory_server")
    chat_server.will(*case.replies)
    await application.runner.run_until_idle()

    job = await the_job(caller)
    remembered = (await caller.get("/api/v1/admin/memories?user_id=ana")).json()["memories"]
    assert (job["state"], job["error_code"]) == ("done", None)
    assert [one["content"] for one in remembered] == [BOSTON["text"]] * case.remembered
    assert len(job["result"]["rejected"]) == case.rejected
    assert case.raw in json.dumps(job["result"]["rejected"])
    assert not case.raw or case.raw not in caplog.text


async def test_a_provider_that_refuses_connections_is_named_with_what_to_do(
    application: Application,
    caller: httpx.AsyncClient,
    clock: ManualClock,
    chat_server: ChatServer,
) -> None:
    for number in range(20):
        turn = a_turn("I always fly out of Boston.", session=f"s-{number}")
        await application.recording.record(a_scope(user_id=f"u-{number}"), turn)
    await application.promotion.flush("shop")
    chat_server.will(*[BREAKS_OFF] * 100)
    await application.runner.run_until_idle()
    calls = len(chat_server.received)
    for _ in range(60):
        clock.advance(by=timedelta(minutes=1))
        await application.runner.run_until_idle()

    state, told = await status(application, caller)
    assert calls == 5
    assert len(chat_server.received) - calls <= 20
    assert state == "blocked"
    assert told.startswith("extraction: provider openai: circuit open since 2026-01-31 12:00:00")
    assert "circuit of extraction: open since" in told or "half-open since" in told
    assert "nothing is lost and it goes on by itself" in told
