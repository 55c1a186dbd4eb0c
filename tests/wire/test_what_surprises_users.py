"""What users of such servers stumble over, request by request, and what is right then."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_server.api.families import FLAT
from memory_server.app import create_app
from memory_server.application import Application
from memory_server.errors import KeyRejected
from tests.clock import ManualClock
from tests.homes import Home
from tests.unit.memory_server.api.application import FakeModels, an_application
from tests.unit.memory_server.api.callers import OWNER


@pytest.fixture
def models() -> FakeModels:
    return FakeModels()


@pytest.fixture
async def application(
    tmp_path: Path, clock: ManualClock, models: FakeModels, home: Home
) -> AsyncIterator[Application]:
    joined = an_application(tmp_path, clock, models, home.store(clock))
    await joined.store.open()
    yield joined
    await joined.close()


@pytest.fixture
async def client(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(application), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as caller:
        yield caller


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> httpx.Response:
    return await client.post(f"{FLAT}/{path}", json={"user_id": "ana"} | body)


async def save_fact(client: httpx.AsyncClient, text: str, **more: Any) -> Any:
    return (await post(client, "semantic", label=text, text=text, **more)).json()


async def search(client: httpx.AsyncClient, kind: str, query: str, **more: Any) -> list[str]:
    found = await post(client, "search", type=kind, query=query, **more)
    assert found.status_code == 200, found.text
    return [chunk["content"] for chunk in found.json()["memories"]]


# Models that do not answer --------------------------------------------------------------------


class TestWithoutAnEmbeddingModel:
    """A key that is rejected costs meaning, not memory."""

    @pytest.fixture
    def models(self) -> FakeModels:
        failing = FakeModels()
        failing.failure = KeyRejected("the embedding key was rejected: check VOYAGE_API_KEY")
        return failing

    async def test_what_is_saved_is_kept_and_found_by_its_words(
        self, client: httpx.AsyncClient
    ) -> None:
        saved = await save_fact(client, "the pump leaks")

        assert saved["has_embedding"] is False
        for mode in ("text", "hybrid"):
            assert await search(client, "semantic", "pump", mode=mode) == ["the pump leaks"]

    async def test_a_search_that_asked_for_both_says_that_it_ran_on_words(
        self, client: httpx.AsyncClient
    ) -> None:
        await save_fact(client, "the pump leaks")

        answer = (await post(client, "search", type="semantic", query="pump")).json()

        assert "embedding key was rejected" in answer["degraded"]

    async def test_readiness_names_the_key(
        self, client: httpx.AsyncClient, application: Application
    ) -> None:
        await application.readiness.probe()

        ready = await client.get("/ready")

        assert ready.status_code == 503
        assert "VOYAGE_API_KEY" in ready.text


async def test_a_store_that_is_away_is_told_and_the_process_lives(
    client: httpx.AsyncClient, application: Application
) -> None:
    await application.store.close()

    answer = await post(client, "turns", session_id="s", role="user", content="x")

    assert (answer.status_code, answer.json()["code"]) == (503, "STORAGE_UNAVAILABLE")
    assert int(answer.headers["retry-after"]) >= 1
    assert (await client.get("/health")).status_code == 200
    assert (await client.get("/ready")).status_code == 503


# Filters --------------------------------------------------------------------------------------


async def test_a_filter_is_of_the_exact_value(client: httpx.AsyncClient) -> None:
    await save_fact(client, "Gold customer", metadata={"tier": "Gold"})

    async def found(value: object) -> list[str]:
        return await search(
            client, "semantic", "customer", metadata_filter={"metadata.tier": value}
        )

    assert await found("Gold") == ["Gold customer"]
    assert [await found(other) for other in ("gold", "Gol", "Gold ", "Gold customer")] == [[]] * 4


async def test_a_range_on_a_text_is_refused(client: httpx.AsyncClient) -> None:
    body = {"type": "semantic", "query": "x", "metadata_filter": {"metadata.tier": {"$gt": "a"}}}

    answer = await post(client, "search", **body)

    assert answer.status_code == 400
    assert "metadata.tier" in answer.json()["error"]


@pytest.mark.parametrize(("session", "found"), [("monday", 1), (None, 2), ("", 2), (" ", 2)])
async def test_a_session_limits_episodes_only_when_it_is_named(
    client: httpx.AsyncClient, session: str | None, found: int
) -> None:
    for day in ("monday", "tuesday"):
        await post(client, "episodic", title=day, content=f"lunch on {day}", session_id=day)

    listed = await client.get(f"{FLAT}/episodic", params={"session_id": session or ""})

    assert len(await search(client, "episodic", "lunch", session_id=session)) == found
    assert len(listed.json()["entries"]) == found


async def test_one_user_and_what_all_may_see_is_no_union(client: httpx.AsyncClient) -> None:
    await save_fact(client, "pump of ana")
    await save_fact(client, "pump of bob", user_id="bob", visibility="org")

    assert await search(client, "semantic", "pump", visibility="org") == []
    everybody = await search(client, "semantic", "pump", user_id=None, visibility="org")
    assert everybody == ["pump of bob"]


# Saving twice ---------------------------------------------------------------------------------


async def test_a_procedure_saved_twice_is_two_and_the_newest_is_first(
    client: httpx.AsyncClient, clock: ManualClock
) -> None:
    body = {"procedure": "p", "description": "d"}
    first = await post(client, "procedural", **body, content="old", update_existing=True)
    clock.advance(1)
    second = await post(client, "procedural", **body, content="new", update_existing=True)

    listed = (await client.get(f"{FLAT}/procedural", params={"procedure": "p"})).json()["entries"]

    assert [entry["content"] for entry in listed] == ["new", "old"]
    assert [entry["id"] for entry in listed] == [second.json()["id"], first.json()["id"]]


async def test_a_turn_that_is_sent_again_without_a_key_is_a_second_turn(
    client: httpx.AsyncClient,
) -> None:
    turn = {"session_id": "s", "role": "user", "content": "once"}
    numbers = [(await post(client, "turns", **turn)).json()["turn_seq"] for _ in range(2)]
    keyed = [(await post(client, "turns", **turn, idempotency_key="k")).json() for _ in range(2)]

    assert numbers == [1, 2]
    assert [receipt["turn_seq"] for receipt in keyed] == [3, 3]
    assert keyed[0]["id"] == keyed[1]["id"]


async def test_an_uncertain_save_is_found_in_a_long_list_by_its_own_mark(
    client: httpx.AsyncClient,
) -> None:
    for number in range(120):
        episode = {"title": "t", "content": f"line {number}", "metadata": {"mark": number}}
        await post(client, "episodic", session_id="s", **episode)

    query: dict[str, Any] = {"user_id": "ana", "session_id": "s", "limit": 1000}
    entries = (await client.get(f"{FLAT}/episodic", params=query)).json()["entries"]

    assert {entry["metadata"]["mark"] for entry in entries} == set(range(120))
    assert all(entry["id"] and entry["content"] for entry in entries)


# Numbers out of bounds ------------------------------------------------------------------------


@pytest.mark.parametrize("top_k", [0, -1, 201, 10**9])
async def test_the_number_of_a_source_has_bounds_that_are_told(
    client: httpx.AsyncClient, top_k: int
) -> None:
    sources = [{"source": "semantic", "top_k": top_k}]

    answer = await post(client, "retrieval/context-from-sources", query="x", sources=sources)

    assert answer.status_code == 422
    assert ("200" if top_k > 0 else "1") in answer.json()["error"]


# Work that is seen ----------------------------------------------------------------------------


async def test_the_counters_follow_the_work(
    client: httpx.AsyncClient, application: Application
) -> None:
    async def counters() -> dict[str, int]:
        return dict((await client.get(f"{FLAT}/queueStats")).json())

    await post(client, "turns", session_id="s", role="user", content="I live in Lisbon.")
    before = await counters()
    await client.post("/api/v1/admin/flush", json={"session_id": "s"}, headers=OWNER)
    waiting = await counters()
    await application.runner.run_until_idle()

    kinds = len(application.settings.memory.enabled)
    assert [before["queued"], waiting["queued"]] == [0, kinds]
    assert await counters() == {"queued": 0, "running": 0, "failed": 0}
    assert await search(client, "semantic", "where does she live") != []
