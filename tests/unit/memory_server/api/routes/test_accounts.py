import base64
from typing import Any

import httpx
import pytest

from tests.clock import ManualClock

ACCOUNTS = "/api/v1/projects/shop/service-accounts"
OF_ACME = "/api/v1/organizations/acme/service-accounts"
TOKEN = "/api/v1/oauth/token"
NEW = {"name": "ci", "roles": ["AGENT_DEVELOPER"]}


async def make(client: httpx.AsyncClient, owner: dict[str, str], **changes: Any) -> dict[str, Any]:
    answer = await client.post(ACCOUNTS, json=NEW | changes, headers=owner)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def token(client: httpx.AsyncClient, made: dict[str, Any], **changes: str) -> httpx.Response:
    form = {
        "grant_type": "client_credentials",
        "client_id": made["service_account"]["client_id"],
        "client_secret": made["client_secret"],
    }
    return await client.post(TOKEN, data=form | changes)


async def test_a_new_account_tells_its_secret_once(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    made = await make(client, owner, description="builds")

    account = made["service_account"]
    assert made["client_secret"].startswith("ae_sa_sk_")
    assert account["client_id"].startswith("ae_sa_id_")
    assert account.items() >= {"name": "ci", "description": "builds", "is_active": True}.items()
    assert (account["roles"], account["last_used_at"]) == (["AGENT_DEVELOPER"], None)
    listed = await client.get(ACCOUNTS, headers=owner)
    assert listed.json() == {"service_accounts": [account], "total": 1}
    assert made["client_secret"] not in listed.text


async def test_no_answer_that_tells_a_secret_is_kept_on_the_way(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    made = await client.post(ACCOUNTS, json=NEW, headers=owner)
    rotating = f"{ACCOUNTS}/{made.json()['service_account']['client_id']}/rotate"
    rotated = await client.post(rotating, headers=owner)
    answers = [made, rotated, await token(client, rotated.json())]

    assert [one.headers["cache-control"] for one in answers] == ["no-store"] * 3


async def test_an_account_is_read_and_removed(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    path = f"{ACCOUNTS}/{(await make(client, owner))['service_account']['client_id']}"

    read = await client.get(path, headers=owner)
    removed = await client.delete(path, headers=owner)
    gone = await client.get(path, headers=owner)

    assert read.json()["service_account"]["name"] == "ci"
    assert (removed.status_code, removed.content) == (204, b"")
    assert (gone.status_code, gone.json()["code"]) == (404, "SERVICE_ACCOUNT_NOT_FOUND")


@pytest.mark.parametrize(
    "body",
    [
        NEW | {"roles": []},
        NEW | {"roles": ["AGENT_DEVELOPER", "PROJECT_OWNER"]},
        NEW | {"roles": ["KING"]},
        NEW | {"name": " "},
        NEW | {"secret_expires_after_hours": 0},
    ],
)
async def test_an_account_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, owner: dict[str, str], body: dict[str, Any]
) -> None:
    assert (await client.post(ACCOUNTS, json=body, headers=owner)).status_code == 422


async def test_two_accounts_of_one_name_are_a_conflict(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await make(client, owner)

    answer = await client.post(ACCOUNTS, json=NEW, headers=owner)

    assert (answer.status_code, answer.json()["code"]) == (409, "DUPLICATE_NAME")


async def test_a_rotated_secret_works_and_the_former_one_has_its_grace(
    client: httpx.AsyncClient, owner: dict[str, str], clock: ManualClock
) -> None:
    made = await make(client, owner)
    path = f"{ACCOUNTS}/{made['service_account']['client_id']}/rotate"

    rotated = (await client.post(path, headers=owner)).json()

    assert rotated["client_secret"] != made["client_secret"]
    assert (await token(client, rotated)).status_code == 200
    assert (await token(client, made)).status_code == 200
    clock.advance(8 * 24 * 3600)
    assert (await token(client, made)).status_code == 401


async def test_the_access_list_is_replaced_and_cleared(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    made = await make(client, owner)
    path = f"{ACCOUNTS}/{made['service_account']['client_id']}/ip-access-list"
    bearer = {"Authorization": f"Bearer {(await token(client, made)).json()['access_token']}"}

    await client.put(path, json={"ip_access_list": ["10.0.0.0/8"]}, headers=owner)
    refused = await client.get("/api/v1/memory/semantic", headers=bearer)
    cleared = await client.put(path, json={"ip_access_list": []}, headers=owner)
    answered = await client.get("/api/v1/memory/semantic", headers=bearer)

    assert (refused.status_code, answered.status_code) == (403, 200)
    assert cleared.json()["service_account"]["ip_access_list"] == []


async def test_a_token_is_issued_for_form_credentials(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    answer = await token(client, await make(client, owner))

    assert answer.status_code == 200
    assert answer.json().items() >= {"token_type": "Bearer", "expires_in": 3600}.items()
    assert answer.headers["cache-control"] == "no-store"


async def test_a_token_is_issued_for_basic_credentials(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    made = await make(client, owner)
    pair = f"{made['service_account']['client_id']}:{made['client_secret']}"
    headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    answer = await client.post(TOKEN, data={"grant_type": "client_credentials"}, headers=headers)

    assert answer.status_code == 200


@pytest.mark.parametrize("grant", ["password", "", "refresh_token"])
async def test_another_grant_is_refused_in_both_languages(
    client: httpx.AsyncClient, owner: dict[str, str], grant: str
) -> None:
    answer = await token(client, await make(client, owner), grant_type=grant)

    assert answer.status_code == 400
    body = answer.json()
    assert (body["error"], body["code"]) == ("unsupported_grant_type", "INVALID_REQUEST")
    assert body["error_description"] == body["detail"] != ""


@pytest.mark.parametrize("changes", [{"client_secret": "wrong"}, {"client_id": ""}])
async def test_bad_credentials_are_refused_in_both_languages(
    client: httpx.AsyncClient, owner: dict[str, str], changes: dict[str, str]
) -> None:
    answer = await token(client, await make(client, owner), **changes)

    assert answer.status_code == 401
    assert (answer.json()["error"], answer.json()["code"]) == (
        "invalid_client",
        "NOT_AUTHENTICATED",
    )


@pytest.mark.parametrize("given", ["Basic ???", "Basic /w==", "Basic"])
async def test_basic_credentials_that_cannot_be_read_are_refused(
    client: httpx.AsyncClient, given: str
) -> None:
    form, headers = {"grant_type": "client_credentials"}, {"Authorization": given}

    assert (await client.post(TOKEN, data=form, headers=headers)).status_code == 401


async def test_the_use_of_an_account_is_noted(
    client: httpx.AsyncClient, owner: dict[str, str], clock: ManualClock
) -> None:
    made = await make(client, owner)
    await token(client, made)

    [account] = (await client.get(ACCOUNTS, headers=owner)).json()["service_accounts"]

    assert account["last_used_at"] == clock.now().isoformat()


async def test_a_deactivated_account_is_out_on_the_next_request_until_it_is_active_again(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    made = await make(client, owner)
    path = f"{ACCOUNTS}/{made['service_account']['client_id']}"
    bearer = {"Authorization": f"Bearer {(await token(client, made)).json()['access_token']}"}

    ended = await client.patch(path, json={"is_active": False}, headers=owner)
    refused = await client.get("/api/v1/memory/semantic", headers=bearer)
    no_token = await token(client, made)
    await client.patch(path, json={"is_active": True, "description": "again"}, headers=owner)
    answered = await client.get("/api/v1/memory/semantic", headers=bearer)

    assert ended.json()["service_account"]["is_active"] is False
    assert (refused.status_code, no_token.status_code) == (401, 401)
    assert answered.status_code == 200


async def test_a_deleted_account_is_not_made_active_again(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    path = f"{ACCOUNTS}/{(await make(client, owner))['service_account']['client_id']}"
    await client.delete(path, headers=owner)

    answer = await client.patch(path, json={"is_active": True}, headers=owner)

    assert (answer.status_code, answer.json()["code"]) == (404, "SERVICE_ACCOUNT_NOT_FOUND")


@pytest.mark.parametrize(
    ("given", "told"),
    [("PROJECT_MEMBER", "PROJECT_READ_ONLY"), ("PROJECT_READ_ONLY", "PROJECT_READ_ONLY")],
)
async def test_an_older_spelling_of_a_role_is_taken_and_told_as_it_is_now(
    client: httpx.AsyncClient, owner: dict[str, str], given: str, told: str
) -> None:
    made = await make(client, owner, roles=[given])

    assert made["service_account"]["roles"] == [told]


@pytest.mark.parametrize(
    ("path", "role", "status"),
    [
        (OF_ACME, "ORG_READ_ONLY", 201),
        (OF_ACME, "ORG_ADMIN", 201),
        (OF_ACME, "PROJECT_OWNER", 400),
        (ACCOUNTS, "ORG_READ_ONLY", 400),
        ("/api/v1/organizations/other/service-accounts", "ORG_READ_ONLY", 404),
    ],
)
async def test_a_role_belongs_to_a_project_or_to_the_organization(
    client: httpx.AsyncClient, owner: dict[str, str], path: str, role: str, status: int
) -> None:
    answer = await client.post(path, json={"name": "ci", "roles": [role]}, headers=owner)

    assert answer.status_code == status


async def test_accounts_of_the_organization_stand_apart_from_those_of_projects(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    await make(client, owner)
    body = {"name": "ci", "roles": ["ORG_READ_ONLY"]}
    made = (await client.post(OF_ACME, json=body, headers=owner)).json()["service_account"]

    listed = (await client.get(OF_ACME, headers=owner)).json()["service_accounts"]
    elsewhere = await client.get(f"{ACCOUNTS}/{made['client_id']}", headers=owner)

    assert (listed, made["project_id"], elsewhere.status_code) == ([made], None, 404)


async def test_asking_for_tokens_too_often_is_told_in_both_languages(
    client: httpx.AsyncClient, owner: dict[str, str], clock: ManualClock
) -> None:
    made = await make(client, owner)
    for _ in range(60):
        assert (await token(client, made)).status_code == 200

    refused = await token(client, made)

    body = refused.json()
    assert (refused.status_code, body["error"], body["code"]) == (429, "slow_down", "RATE_LIMITED")
    assert "60 in 60 seconds" in body["error_description"]
    clock.advance(int(refused.headers["retry-after"]))
    assert (await token(client, made)).status_code == 200
