import httpx
import pytest

from memory_server.application import Application
from tests.clock import ManualClock
from tests.unit.memory_server.api.application import OWNER_TOKEN, PROJECT

FLAT = "/api/v1/memory"
PROJECT_ROUTES = f"/api/v1/projects/{PROJECT}/memory"
SEARCH = {"type": "semantic", "query": "x"}
EXECUTION = {"X-Agent-Engine-Execution-Id": "run-1"}


async def token_of_account(client: httpx.AsyncClient, owner: dict[str, str]) -> str:
    made = await client.post(
        f"/api/v1/projects/{PROJECT}/service-accounts",
        json={"name": "ci", "roles": ["AGENT_DEVELOPER"]},
        headers=owner,
    )
    form = {
        "grant_type": "client_credentials",
        "client_id": made.json()["service_account"]["client_id"],
        "client_secret": made.json()["client_secret"],
    }
    return str((await client.post("/api/v1/oauth/token", data=form)).json()["access_token"])


@pytest.mark.parametrize("prefix", [FLAT, "/api/v1"])
async def test_the_flat_and_direct_routes_need_no_token(
    client: httpx.AsyncClient, prefix: str
) -> None:
    assert (await client.post(f"{prefix}/search", json=SEARCH)).json()["memories"] == []


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer", "Basic eDp5", "wrong", "Bearer ä"])
@pytest.mark.parametrize("prefix", [FLAT, PROJECT_ROUTES])
async def test_a_token_that_is_presented_must_be_good(
    client: httpx.AsyncClient, prefix: str, header: str
) -> None:
    headers = {b"Authorization": header.encode()}

    answer = await client.post(f"{prefix}/search", json=SEARCH, headers=headers)

    assert answer.status_code == 401
    assert answer.json()["code"] == "NOT_AUTHENTICATED"


async def test_project_routes_need_a_token(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    refused = await client.post(f"{PROJECT_ROUTES}/search", json=SEARCH)
    answered = await client.post(f"{PROJECT_ROUTES}/search", json=SEARCH, headers=owner)

    assert (refused.status_code, answered.status_code) == (401, 200)


async def test_a_service_accounts_token_opens_its_project(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    bearer = {"Authorization": f"Bearer {await token_of_account(client, owner)}"}

    answer = await client.post(f"{PROJECT_ROUTES}/search", json=SEARCH, headers=bearer)

    assert answer.status_code == 200


async def test_an_expired_token_is_called_expired(
    client: httpx.AsyncClient, owner: dict[str, str], clock: ManualClock
) -> None:
    bearer = {"Authorization": f"Bearer {await token_of_account(client, owner)}"}
    clock.advance(3600)

    answer = await client.post(f"{PROJECT_ROUTES}/search", json=SEARCH, headers=bearer)

    assert (answer.status_code, answer.json()["code"]) == (401, "TOKEN_EXPIRED")
    assert "expired" in answer.json()["error"]


@pytest.mark.parametrize("path", ["search", "turns", "context", "semantic/x"])
async def test_a_project_that_is_not_held_is_refused_but_never_called_missing(
    client: httpx.AsyncClient, owner: dict[str, str], path: str
) -> None:
    method = "GET" if path.startswith("semantic") else "POST"

    answer = await client.request(
        method, f"/api/v1/projects/other/memory/{path}", json=SEARCH, headers=owner
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "PROJECT_NOT_FOUND")


async def test_without_a_token_an_unknown_project_is_not_told_apart(
    client: httpx.AsyncClient,
) -> None:
    assert (
        await client.post("/api/v1/projects/other/memory/search", json=SEARCH)
    ).status_code == 401


ADMINISTRATIVE = [
    ("GET", "/api/v1/admin/jobs"),
    ("GET", "/api/v1/admin/memories"),
    ("GET", "/api/v1/admin/memories/x"),
    ("GET", "/api/v1/admin/memories/x/history"),
    ("POST", "/api/v1/admin/flush"),
    ("POST", "/api/v1/admin/jobs/x/retry"),
    ("DELETE", "/api/v1/admin/scope?user_id=ana"),
    ("GET", f"/api/v1/projects/{PROJECT}/service-accounts"),
    ("POST", f"/api/v1/projects/{PROJECT}/service-accounts/x/rotate"),
    ("DELETE", f"/api/v1/projects/{PROJECT}/service-accounts/x"),
]


@pytest.mark.parametrize(("method", "path"), ADMINISTRATIVE)
async def test_administration_needs_the_owner_token(
    client: httpx.AsyncClient, owner: dict[str, str], method: str, path: str
) -> None:
    bearer = {"Authorization": f"Bearer {await token_of_account(client, owner)}"}

    anonymous = await client.request(method, path)
    account = await client.request(method, path, headers=bearer)

    assert (anonymous.status_code, account.status_code) == (401, 403)


async def test_the_project_in_a_body_decides_nothing(client: httpx.AsyncClient) -> None:
    fact = {"label": "l", "text": "t", "user_id": "ana", "project_id": "other", "org_id": "other"}
    await client.post(f"{FLAT}/semantic", json=fact)

    [entry] = (await client.get(f"{FLAT}/semantic?project_id=&org_id=")).json()["entries"]

    assert (entry["project_id"], entry["org_id"]) == (PROJECT, "acme")


@pytest.mark.parametrize(
    ("headers", "agent"),
    [
        ({"X-Agent-Engine-Agent-Id": "new", "X-Agentic-Agent-Id": "old"}, "new"),
        ({"X-Agentic-Agent-Id": "old"}, "old"),
        ({"X-Agent-Engine-Agent-Id": " ", "X-Agentic-Agent-Id": "old"}, "old"),
        ({}, None),
    ],
)
async def test_the_agent_comes_from_either_spelling_of_its_header(
    client: httpx.AsyncClient, headers: dict[str, str], agent: str | None
) -> None:
    fact = {"label": "l", "text": "t", "user_id": "ana"}
    await client.post(f"{FLAT}/semantic", json=fact, headers=headers)

    [entry] = (await client.get(f"{FLAT}/semantic")).json()["entries"]

    assert entry["agent_id"] == agent


async def test_the_agent_in_a_body_wins_over_the_header(client: httpx.AsyncClient) -> None:
    fact = {"label": "l", "text": "t", "user_id": "ana", "agent_id": "body"}
    await client.post(f"{FLAT}/semantic", json=fact, headers={"X-Agent-Engine-Agent-Id": "header"})

    [entry] = (await client.get(f"{FLAT}/semantic")).json()["entries"]

    assert entry["agent_id"] == "body"


@pytest.mark.parametrize(
    ("identity", "status"),
    [
        ({}, 400),
        ({"user_id": " "}, 400),
        ({"visibility": "private"}, 403),
        ({"visibility": "org"}, 200),
        ({"user_id": "ana"}, 200),
        ({"user_id": "ana", "visibility": "private"}, 200),
    ],
)
async def test_inside_an_execution_a_search_names_whose_memory_it_means(
    client: httpx.AsyncClient, identity: dict[str, str], status: int
) -> None:
    answer = await client.post(f"{FLAT}/search", json=SEARCH | identity, headers=EXECUTION)

    assert answer.status_code == status


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_inside_an_execution_query_parameters_are_checked_too(
    client: httpx.AsyncClient, method: str
) -> None:
    answer = await client.request(method, f"{FLAT}/procedural/x", headers=EXECUTION)

    assert (answer.status_code, answer.json()["code"]) == (400, "IDENTITY_MISSING")


async def test_inside_an_execution_an_account_reads_no_other_users_private_memory(
    client: httpx.AsyncClient, owner: dict[str, str]
) -> None:
    headers = EXECUTION | {"Authorization": f"Bearer {await token_of_account(client, owner)}"}

    private = await client.post(f"{FLAT}/search", json=SEARCH | {"user_id": "ana"}, headers=headers)
    shared = await client.post(
        f"{FLAT}/search", json=SEARCH | {"user_id": "ana", "visibility": "org"}, headers=headers
    )

    assert (private.status_code, shared.status_code) == (403, 200)


async def test_the_owner_token_is_the_one_of_the_file(application: Application) -> None:
    assert application.owner_token == OWNER_TOKEN
