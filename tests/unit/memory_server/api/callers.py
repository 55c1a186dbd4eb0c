"""Headers of those who call: made over the API itself, with the owner token."""

import itertools

import httpx

from tests.unit.memory_server.api.application import OWNER_TOKEN, PROJECT

OWNER = {"Authorization": f"Bearer {OWNER_TOKEN}"}
_numbers = itertools.count(1)


async def _posted(client: httpx.AsyncClient, path: str, **body: object) -> httpx.Response:
    answer = await client.post(path, json=body, headers=OWNER)
    assert answer.status_code == 201, answer.text
    return answer


async def a_project(client: httpx.AsyncClient, project_id: str = "bank") -> str:
    """Make a project and return its id."""
    await _posted(client, "/api/v1/projects", name=project_id, id=project_id)
    return project_id


async def an_account(
    client: httpx.AsyncClient, role: str = "AGENT_DEVELOPER", project: str = PROJECT
) -> dict[str, str]:
    """Return the headers of a new service account; organization roles make one of `acme`."""
    home = "organizations/acme" if role.startswith("ORG_") else f"projects/{project}"
    body = {"name": f"bot-{next(_numbers)}", "roles": [role]}
    made = (await _posted(client, f"/api/v1/{home}/service-accounts", **body)).json()
    form = {
        "grant_type": "client_credentials",
        "client_id": made["service_account"]["client_id"],
        "client_secret": made["client_secret"],
    }
    token = (await client.post("/api/v1/oauth/token", data=form)).json()["access_token"]
    return {"Authorization": f"Bearer {token}"}


async def a_person(
    client: httpx.AsyncClient,
    user_id: str = "ana",
    role: str = "AGENT_DEVELOPER",
    project: str = PROJECT,
) -> dict[str, str]:
    """Return the headers of a new member who has logged in."""
    body = {"user_id": user_id, "role": role}
    made = (await _posted(client, f"/api/v1/projects/{project}/members", **body)).json()
    login = {"username": user_id, "password": made["password"], "project_id": project}
    token = (await client.post("/api/v1/auth/login", json=login)).json()["access_token"]
    return {"Authorization": f"Bearer {token}"}


async def enforce_identity(client: httpx.AsyncClient, project: str = PROJECT) -> None:
    """Let a project enforce identity."""
    path = f"/api/v1/projects/{project}"
    answer = await client.patch(path, json={"enforce_identity": True}, headers=OWNER)
    assert answer.status_code == 200
