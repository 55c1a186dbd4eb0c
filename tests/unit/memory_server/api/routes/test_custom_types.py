from pathlib import Path

import httpx
import pytest

from memory_server.api.routes.custom_types import NOT_ENABLED, UNKNOWN
from memory_server.app import create_app
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import an_application

TYPES = "/api/v1/memory/types"
CALLS = [("{}", {"content": "c"}), ("{}/retrieve", {"query": "q"})]


def test_the_phrases_are_those_that_clients_look_for() -> None:
    assert NOT_ENABLED == "custom_memory_types is not enabled"
    assert UNKNOWN.format("x") == "unknown custom memory type 'x'"


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_without_declared_types_the_feature_is_off(
    client: httpx.AsyncClient, path: str, body: dict[str, str]
) -> None:
    answer = await client.post(f"{TYPES}/{path.format('ticket')}", json=body)

    assert answer.status_code == 400
    assert NOT_ENABLED in answer.json()["error"]


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_beside_declared_types_another_is_unknown(
    tmp_path: Path, clock: ManualClock, path: str, body: dict[str, str]
) -> None:
    declared = [{"name": "ticket", "collection": "tickets"}]
    app = create_app(an_application(tmp_path, clock, custom_memory_types=declared))
    transport = httpx.ASGITransport(app)

    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.post(f"{TYPES}/{path.format('nope')}", json=body)

    assert (answer.status_code, answer.json()["code"]) == (404, "UNKNOWN_CUSTOM_TYPE")
    assert answer.json()["error"] == UNKNOWN.format("nope")


@pytest.mark.parametrize("top_k", [0, 101])
async def test_the_number_of_results_has_bounds(client: httpx.AsyncClient, top_k: int) -> None:
    answer = await client.post(f"{TYPES}/ticket/retrieve", json={"query": "q", "top_k": top_k})

    assert answer.status_code == 422
