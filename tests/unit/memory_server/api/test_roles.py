"""Who may write: every route of the server is asked, whatever is added to it."""

from collections.abc import Iterator

import httpx
import pytest

from memory_server.app import create_app
from memory_server.bootstrap import Application
from tests.unit.memory_server.api.application import PROJECT

READING_POSTS = (
    "/search",
    "/context",
    "/retrieval/context",
    "/retrieval/context-from-sources",
    "/retrieval/semantic",
    "/retrieval/episodic",
    "/retrieval/taxonomic",
    "/retrieval/procedural",
    "/types/x/retrieve",
)
"""Questions that are too long for an address."""
OPEN = "/api/v1/oauth/token"
"""Takes credentials instead of a token."""


def calls(application: Application) -> Iterator[tuple[str, str]]:
    """Yield the method and a path of every operation."""
    for template, operations in create_app(application).openapi()["paths"].items():
        path = template.replace("{project_id}", PROJECT).replace("{type_name}", "x")
        for name in ("memory_id", "job_id", "client_id", "workspace"):
            path = path.replace(f"{{{name}}}", "x")
        assert "{" not in path
        yield from ((method.upper(), path) for method in operations)


async def bearer(client: httpx.AsyncClient, owner: dict[str, str], role: str) -> dict[str, str]:
    made = await client.post(
        f"/api/v1/projects/{PROJECT}/service-accounts",
        json={"name": role, "roles": [role]},
        headers=owner,
    )
    form = {
        "grant_type": "client_credentials",
        "client_id": made.json()["service_account"]["client_id"],
        "client_secret": made.json()["client_secret"],
    }
    token = (await client.post("/api/v1/oauth/token", data=form)).json()["access_token"]
    return {"Authorization": f"Bearer {token}"}


def is_reading(method: str, path: str) -> bool:
    return method == "GET" or (path.endswith(READING_POSTS) and "/workspaces/" not in path)


async def refusals(
    client: httpx.AsyncClient, application: Application, headers: dict[str, str]
) -> dict[tuple[str, str], str]:
    """Return the operations that a caller is refused for what they may do, and the reason."""
    found = {}
    for method, path in calls(application):
        if path == OPEN:
            continue
        answer = await client.request(method, path, json={}, headers=headers)
        if answer.status_code == 403:
            assert answer.json()["code"] == "FORBIDDEN"
            found[method, path] = answer.json()["error"]
    return found


def administrative(path: str) -> bool:
    return "/admin/" in path or "/service-accounts" in path


async def test_an_account_that_may_only_read_is_refused_wherever_something_is_written(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    headers = await bearer(client, owner, "PROJECT_READ_ONLY")

    refused = await refusals(client, application, headers)

    every = [call for call in calls(application) if call[1] != OPEN]
    assert len(every) > 80
    for method, path in every:
        expected = administrative(path) or not is_reading(method, path)
        assert ((method, path) in refused) is expected, (method, path)


async def test_the_refusal_says_which_role_is_needed(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str]
) -> None:
    headers = await bearer(client, owner, "PROJECT_READ_ONLY")

    answer = await client.post("/api/v1/memory/turns", json={}, headers=headers)

    assert "PROJECT_OWNER or AGENT_DEVELOPER" in answer.json()["error"]
    assert "PROJECT_READ_ONLY" in answer.json()["error"]


@pytest.mark.parametrize("role", ["AGENT_DEVELOPER", "PROJECT_OWNER"])
async def test_other_accounts_write_memory_but_do_not_administer(
    client: httpx.AsyncClient, application: Application, owner: dict[str, str], role: str
) -> None:
    refused = await refusals(client, application, await bearer(client, owner, role))

    assert refused
    assert all(administrative(path) for _, path in refused)
