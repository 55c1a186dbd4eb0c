from typing import Any

import httpx
import pytest

from tests.clock import ManualClock
from tests.unit.memory_server.api.callers import OWNER, a_person, a_project, an_account

MEMBERS = "/api/v1/projects/shop/members"
ANA = {"user_id": "ana", "role": "AGENT_DEVELOPER"}


async def add(client: httpx.AsyncClient, **changes: Any) -> httpx.Response:
    return await client.post(MEMBERS, json=ANA | changes, headers=OWNER)


async def log_in(client: httpx.AsyncClient, password: str) -> httpx.Response:
    body = {"username": "ana", "password": password}
    return await client.post("/api/v1/auth/login", json=body)


async def test_a_new_member_is_told_their_password_once(
    client: httpx.AsyncClient, clock: ManualClock
) -> None:
    made = await add(client)

    member, now = made.json()["member"], clock.now().isoformat()
    assert made.status_code == 201
    assert member == ANA | {"is_active": True, "created_at": now, "updated_at": now}
    assert len(made.json()["password"]) >= 32
    listed = await client.get(MEMBERS, headers=OWNER)
    assert listed.json() == {"members": [member], "total": 1}
    assert made.json()["password"] not in listed.text


async def test_no_answer_that_tells_a_password_is_kept_on_the_way(
    client: httpx.AsyncClient,
) -> None:
    made = await add(client)
    reset = await client.post(f"{MEMBERS}/ana/reset-password", headers=OWNER)
    logged_in = await log_in(client, reset.json()["password"])

    answers = (made, reset, logged_in)
    assert [one.headers["cache-control"] for one in answers] == ["no-store"] * 3


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"user_id": " "}, 422),
        ({"user_id": "a/b"}, 422),
        ({"user_id": ".."}, 422),
        ({"user_id": "a b"}, 422),
        ({"role": "KING"}, 422),
        ({"role": "ORG_READ_ONLY"}, 400),
    ],
)
async def test_a_member_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, changes: dict[str, str], status: int
) -> None:
    assert (await add(client, **changes)).status_code == status


async def test_an_older_spelling_of_a_role_is_taken_and_told_as_it_is_now(
    client: httpx.AsyncClient,
) -> None:
    made = await add(client, role="PROJECT_MEMBER")

    assert made.json()["member"]["role"] == "PROJECT_READ_ONLY"


@pytest.mark.parametrize("user_id", ["ana@shop.example", "ana+1", "Anaïs", "a:b;c=d&e"])
async def test_a_member_is_reached_by_any_name_they_may_have(
    client: httpx.AsyncClient, user_id: str
) -> None:
    await add(client, user_id=user_id)

    path = f"{MEMBERS}/{httpx.URL('http://x').copy_with(path=f'/{user_id}').raw_path.decode()[1:]}"
    read = await client.get(path, headers=OWNER)

    assert read.json()["member"]["user_id"] == user_id


async def test_two_members_of_one_name_are_a_conflict(client: httpx.AsyncClient) -> None:
    await add(client)

    answer = await add(client)

    assert (answer.status_code, answer.json()["code"]) == (409, "DUPLICATE_NAME")


async def test_a_changed_role_holds_on_the_next_request(client: httpx.AsyncClient) -> None:
    headers = await a_person(client, "ana", "PROJECT_READ_ONLY")
    fact = {"label": "l", "text": "t"}
    before = await client.post("/api/v1/memory/semantic", json=fact, headers=headers)

    body = {"role": "AGENT_DEVELOPER"}
    changed = await client.patch(f"{MEMBERS}/ana", json=body, headers=OWNER)
    after = await client.post("/api/v1/memory/semantic", json=fact, headers=headers)

    assert changed.json()["member"]["role"] == "AGENT_DEVELOPER"
    assert (before.status_code, after.status_code) == (403, 201)


@pytest.mark.parametrize("way", ["deactivate", "remove", "reset"])
async def test_who_is_out_is_out_on_the_next_request(client: httpx.AsyncClient, way: str) -> None:
    headers = await a_person(client, "ana")
    assert (await client.get("/api/v1/auth/me", headers=headers)).status_code == 200

    match way:
        case "deactivate":
            body = {"is_active": False}
            done = await client.patch(f"{MEMBERS}/ana", json=body, headers=OWNER)
        case "remove":
            done = await client.delete(f"{MEMBERS}/ana", headers=OWNER)
        case _:
            done = await client.post(f"{MEMBERS}/ana/reset-password", headers=OWNER)

    assert done.status_code in (200, 204)
    assert (await client.get("/api/v1/auth/me", headers=headers)).status_code == 401
    assert (await client.get("/api/v1/memory/semantic", headers=headers)).status_code == 401


async def test_a_reset_password_is_told_once_and_the_former_one_ends(
    client: httpx.AsyncClient,
) -> None:
    former = (await add(client)).json()["password"]

    made = await client.post(f"{MEMBERS}/ana/reset-password", headers=OWNER)

    assert made.json()["member"]["user_id"] == "ana"
    assert (await log_in(client, former)).status_code == 401
    assert (await log_in(client, made.json()["password"])).status_code == 200


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_a_member_of_another_project_is_not_found(
    client: httpx.AsyncClient, method: str
) -> None:
    await add(client)
    path = f"/api/v1/projects/{await a_project(client)}/members/ana"

    answer = await client.request(method, path, json={}, headers=OWNER)

    assert (answer.status_code, answer.json()["code"]) == (404, "MEMBER_NOT_FOUND")


async def test_an_owner_of_the_project_manages_its_members_and_a_program_does_not(
    client: httpx.AsyncClient,
) -> None:
    person = await a_person(client, "otto", "PROJECT_OWNER")
    program = await an_account(client, "PROJECT_OWNER")

    by_person = await client.post(MEMBERS, json=ANA, headers=person)
    by_program = await client.post(MEMBERS, json=ANA | {"user_id": "bob"}, headers=program)

    assert (by_person.status_code, by_program.status_code) == (201, 403)
    assert "service account's token" in by_program.json()["error"]
