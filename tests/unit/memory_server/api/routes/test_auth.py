from typing import Any

import httpx
import pytest

from tests.clock import ManualClock
from tests.unit.memory_server.api.callers import OWNER, a_person, a_project, an_account

AUTH = "/api/v1/auth"


async def password_of(client: httpx.AsyncClient, project: str = "shop") -> str:
    path = f"/api/v1/projects/{project}/members"
    body = {"user_id": "ana", "role": "AGENT_DEVELOPER"}
    return str((await client.post(path, json=body, headers=OWNER)).json()["password"])


async def log_in(client: httpx.AsyncClient, password: str, **more: Any) -> httpx.Response:
    return await client.post(f"{AUTH}/login", json={"username": "ana", "password": password} | more)


async def refresh(client: httpx.AsyncClient, token: str) -> httpx.Response:
    return await client.post(f"{AUTH}/refresh", json={"refresh_token": token})


ME = {
    "kind": "person",
    "id": "ana",
    "role": "AGENT_DEVELOPER",
    "project_id": "shop",
    "org_id": "acme",
}


async def test_a_login_gives_both_tokens_and_says_whose_they_are(
    client: httpx.AsyncClient,
) -> None:
    answer = await log_in(client, await password_of(client))

    tokens = answer.json()
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert tokens["principal"] == ME
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert (await client.get(f"{AUTH}/me", headers=headers)).json() == ME


@pytest.mark.parametrize("more", [{}, {"project_id": "bank"}, {"project_id": None}])
async def test_a_login_is_for_the_project_that_is_named_or_that_the_password_is_for(
    client: httpx.AsyncClient, more: dict[str, str | None]
) -> None:
    await password_of(client)
    password = await password_of(client, await a_project(client))

    answer = await log_in(client, password, **more)

    assert answer.json()["principal"]["project_id"] == "bank"


async def test_a_wrong_password_and_an_unknown_name_are_told_alike(
    client: httpx.AsyncClient,
) -> None:
    password = await password_of(client)

    wrong = await log_in(client, "wrong")
    unknown = await client.post(f"{AUTH}/login", json={"username": "eve", "password": password})

    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert wrong.json()["error"] == unknown.json()["error"]


async def test_an_expired_access_token_is_called_expired_and_refreshed(
    client: httpx.AsyncClient, clock: ManualClock
) -> None:
    tokens = (await log_in(client, await password_of(client))).json()
    clock.advance(3600)
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}

    expired = await client.get("/api/v1/memory/semantic", headers=headers)
    renewed = (await refresh(client, tokens["refresh_token"])).json()
    headers = {"Authorization": f"Bearer {renewed['access_token']}"}

    assert (expired.status_code, expired.json()["code"]) == (401, "TOKEN_EXPIRED")
    assert "expired" in expired.json()["error"]
    assert (await client.get("/api/v1/memory/semantic", headers=headers)).status_code == 200


async def test_a_refresh_token_that_is_used_twice_ends_its_login(
    client: httpx.AsyncClient,
) -> None:
    first = (await log_in(client, await password_of(client))).json()
    second = (await refresh(client, first["refresh_token"])).json()

    again = await refresh(client, first["refresh_token"])

    assert (again.status_code, "used before" in again.json()["error"]) == (401, True)
    assert (await refresh(client, second["refresh_token"])).status_code == 401
    headers = {"Authorization": f"Bearer {second['access_token']}"}
    assert (await client.get(f"{AUTH}/me", headers=headers)).status_code == 401


async def test_tokens_are_not_taken_for_each_other(client: httpx.AsyncClient) -> None:
    tokens = (await log_in(client, await password_of(client))).json()

    headers = {"Authorization": f"Bearer {tokens['refresh_token']}"}

    assert (await client.get(f"{AUTH}/me", headers=headers)).status_code == 401
    assert (await refresh(client, tokens["access_token"])).status_code == 401


async def test_too_many_failures_are_told_with_the_limit_and_the_wait(
    client: httpx.AsyncClient, clock: ManualClock
) -> None:
    password = await password_of(client)
    for _ in range(10):
        await log_in(client, "wrong")

    refused = await log_in(client, password)

    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert "10 in 300 seconds" in refused.json()["error"]
    clock.advance(int(refused.headers["retry-after"]))
    assert (await log_in(client, password)).status_code == 200


async def test_logging_out_ends_the_login(client: httpx.AsyncClient) -> None:
    headers = await a_person(client)

    ended = await client.post(f"{AUTH}/logout", headers=headers)

    assert (ended.status_code, ended.content) == (204, b"")
    assert (await client.get(f"{AUTH}/me", headers=headers)).status_code == 401


async def test_logging_out_does_nothing_to_what_is_no_login(client: httpx.AsyncClient) -> None:
    for headers in (OWNER, await an_account(client)):
        assert (await client.post(f"{AUTH}/logout", headers=headers)).status_code == 204
        assert (await client.get(f"{AUTH}/me", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("role", "told"),
    [
        ("PROJECT_MEMBER", ("service_account", "PROJECT_READ_ONLY", "shop")),
        ("ORG_ADMIN", ("service_account", "ORG_GROUP_CREATOR", None)),
    ],
)
async def test_programs_are_told_who_they_are(
    client: httpx.AsyncClient, role: str, told: tuple[str, str, str | None]
) -> None:
    me = (await client.get(f"{AUTH}/me", headers=await an_account(client, role))).json()

    assert (me["kind"], me["role"], me["project_id"]) == told
    assert me["id"].startswith("ae_sa_id_")


async def test_whoever_holds_the_owner_token_is_told_so(client: httpx.AsyncClient) -> None:
    me = await client.get(f"{AUTH}/me", headers=OWNER)

    assert me.json() == {
        "kind": "owner",
        "id": "owner",
        "role": None,
        "project_id": None,
        "org_id": "acme",
    }
