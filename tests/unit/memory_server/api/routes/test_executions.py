from typing import Any

import httpx
import pytest

from tests.unit.memory_server.api.routes.test_accounts import make, token

INVOKE = "/api/v1/projects/shop/workspaces/main/invoke"
EXECUTIONS = "/api/v1/projects/shop/executions"
HERE = {"workspace_id": "main"}


async def invoked(client: httpx.AsyncClient, headers: dict[str, str]) -> str:
    ask = {"message": "Hello", "user_id": "ana", "session_id": "s1"}
    answer = await client.post(INVOKE, json=ask, headers=headers)
    return str(answer.json()["execution_id"])


async def a_bearer(
    client: httpx.AsyncClient, owner: dict[str, str], **changes: Any
) -> dict[str, str]:
    made = await make(client, owner, **changes)
    issued = (await token(client, made)).json()["access_token"]
    return {"Authorization": f"Bearer {issued}"}


async def test_an_execution_is_told_as_it_stands(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    execution = await invoked(client, owner)

    answer = await client.get(f"{EXECUTIONS}/{execution}", params=HERE, headers=owner)

    body = answer.json()
    assert answer.status_code == 200
    assert (body["execution_id"], body["status"]) == (execution, "completed")
    assert (body["user_id"], body["session_id"], body["workspace_id"]) == ("ana", "s1", "main")
    assert body["ended_at"] >= body["started_at"]


async def test_cancelling_one_that_is_over_changes_nothing(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    execution = await invoked(client, owner)

    answer = await client.post(f"{EXECUTIONS}/{execution}/cancel", params=HERE, headers=owner)

    assert (answer.status_code, answer.json()["status"]) == (200, "completed")


@pytest.mark.parametrize("verb", ["interrupt", "resume"])
async def test_what_is_not_suspended_is_neither_resumed_nor_interrupted(
    client: httpx.AsyncClient, owner: dict[str, str], verb: str
) -> None:
    execution = await invoked(client, owner)

    answer = await client.post(f"{EXECUTIONS}/{execution}/{verb}", params=HERE, headers=owner)

    assert (answer.status_code, answer.json()["code"]) == (409, "NOT_SUSPENDED")


@pytest.mark.parametrize("method", ["GET /", "POST /cancel", "POST /interrupt", "POST /resume"])
async def test_an_execution_needs_its_workspace(
    client: httpx.AsyncClient, owner: dict[str, str], method: str
) -> None:
    execution = await invoked(client, owner)
    verb, _, path = method.partition(" ")
    url = f"{EXECUTIONS}/{execution}{path}".rstrip("/")

    without = await client.request(verb, url, headers=owner)
    elsewhere = await client.request(verb, url, params={"workspace_id": "other"}, headers=owner)
    unknown = await client.request(verb, f"{EXECUTIONS}/x{path}".rstrip("/"), params=HERE)

    assert (without.status_code, unknown.status_code) == (422, 401)
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "EXECUTION_NOT_FOUND")


async def test_an_execution_is_shown_to_its_caller_and_to_owners_only(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    mine = await a_bearer(client, owner)
    another = await a_bearer(client, owner, name="another")
    leader = await a_bearer(client, owner, name="leader", roles=["PROJECT_OWNER"])
    execution = await invoked(client, mine)

    answers = [
        await client.get(f"{EXECUTIONS}/{execution}", params=HERE, headers=headers)
        for headers in (mine, owner, leader, another)
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 404]
