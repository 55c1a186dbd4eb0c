"""Who may do what: every route of the server is asked, whatever is added to it."""

import re

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from memory_server.app import create_app
from memory_server.application import Application
from memory_server.domain.account import AccountRole, Principal, PrincipalKind
from memory_server.domain.policy import Right, check_right
from memory_server.errors import Forbidden
from tests.unit.memory_server.api.application import PROJECT
from tests.unit.memory_server.api.callers import a_person, a_project, an_account, enforce_identity

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
    "/mcp",
)
"""Questions that are too long for an address."""
OPEN = ("/health", "/ready", "/metrics", "/oauth/token", "/auth/login", "/auth/refresh")
"""They say how the server is, or take credentials instead of a token."""
OF_THE_FRAMEWORK = "/openapi.json"
LOGOUT = "/api/v1/auth/logout"
BY_PATH = {
    r"^/organizations/": Right.KEEP_ORGANIZATION,
    r"/(service-accounts|members|secrets)(/|$)": Right.KEEP_CREDENTIALS,
    r"^/admin/backup$": Right.COPY_STORE,
    r"/proposals(/|$)": Right.REVIEW,
    r"/admin/": Right.ADMINISTER,
}
"""What decides whatever is done with a path; the first that fits does."""
OF_THE_SERVER = re.compile(r"/projects(/shop)?|/auth/(me|logout)")


def calls(application: Application) -> list[tuple[str, str]]:
    """Return the method and a path of every operation that a token opens; logging out is last."""
    found = []
    for route in iter_route_contexts(create_app(application).routes):
        path = str(route.path_format)
        path = path.replace("{project_id}", PROJECT).replace("{org_id}", "acme")
        path = re.sub(r"{\w+}", "x", path)
        if not path.endswith((*OPEN, OF_THE_FRAMEWORK)):
            found += [(method, path) for method in route.methods or () if method != "HEAD"]
    assert len(found) > 100
    return sorted(found, key=lambda call: call[1] == LOGOUT)


def right_of(method: str, path: str) -> Right:
    """Return what the documentation says a route needs."""
    path = path.removeprefix("/api/v1")
    for pattern, right in BY_PATH.items():
        if re.search(pattern, path):
            return right
    if OF_THE_SERVER.fullmatch(path):
        of_projects = {
            "POST /projects": Right.CREATE_PROJECTS,
            "PATCH /projects/shop": Right.KEEP_CREDENTIALS,
            "DELETE /projects/shop": Right.KEEP_CREDENTIALS,
        }
        return of_projects.get(f"{method} {path}", Right.SEE_PROJECTS)
    is_question = path.endswith(READING_POSTS) and "/workspaces/" not in path
    return Right.READ_MEMORY if method == "GET" or is_question else Right.WRITE_MEMORY


def may(role: str, kind: PrincipalKind, right: Right) -> bool:
    try:
        check_right(Principal(kind=kind, id="x", role=AccountRole(role)), right)
    except Forbidden:
        return False
    return True


async def refused(
    client: httpx.AsyncClient, every: list[tuple[str, str]], headers: dict[str, str]
) -> set[tuple[str, str]]:
    """Return the operations that a caller is refused for what they may do."""
    found = set()
    for method, path in every:
        answer = await client.request(method, path, json={}, headers=headers)
        if answer.status_code == 403:
            assert answer.json()["code"] == "FORBIDDEN", (method, path)
            found.add((method, path))
    return found


@pytest.mark.parametrize("role", list(AccountRole))
async def test_a_service_account_may_what_its_role_says_and_nothing_else(
    client: httpx.AsyncClient, application: Application, role: str
) -> None:
    every, headers = calls(application), await an_account(client, role)

    found = await refused(client, every, headers)

    kind = PrincipalKind.SERVICE_ACCOUNT
    assert found == {call for call in every if not may(role, kind, right_of(*call))}


@pytest.mark.parametrize("role", [role for role in AccountRole if not role.is_of_organization])
async def test_a_person_may_what_their_role_says_and_nothing_else(
    client: httpx.AsyncClient, application: Application, role: str
) -> None:
    every, headers = calls(application), await a_person(client, role=role)

    found = await refused(client, every, headers)

    kind = PrincipalKind.PERSON
    assert found == {call for call in every if not may(role, kind, right_of(*call))}


async def test_a_caller_of_another_project_is_let_in_nowhere(
    client: httpx.AsyncClient, application: Application
) -> None:
    bank = await a_project(client)
    callers = [await an_account(client, "PROJECT_OWNER", bank)]
    callers.append(await a_person(client, "ana", "PROJECT_OWNER", bank))
    of_no_project = {"/api/v1/projects", "/api/v1/auth/me", LOGOUT}

    every = calls(application)

    for headers in callers:
        let_in = {*every} - await refused(client, every, headers)
        assert {path for _, path in let_in} == of_no_project


async def statuses_without_token(
    client: httpx.AsyncClient, application: Application
) -> list[tuple[str, str, int]]:
    found = []
    for method, path in calls(application):
        answer = await client.request(method, path, json={})
        found.append((method, path, answer.status_code))
    return found


async def test_without_a_token_only_flat_and_direct_memory_and_the_local_agent_are_open(
    client: httpx.AsyncClient, application: Application
) -> None:
    for method, path, status in await statuses_without_token(client, application):
        is_memory = right_of(method, path) in (Right.READ_MEMORY, Right.WRITE_MEMORY)
        is_open = is_memory and "/projects/" not in path
        assert (status == 401) is not is_open, (method, path, status)


async def test_without_a_token_nothing_is_open_where_identity_is_enforced(
    client: httpx.AsyncClient, application: Application
) -> None:
    await enforce_identity(client)

    found = await statuses_without_token(client, application)

    assert {status for _, _, status in found} == {401}


async def test_the_refusal_says_which_role_is_needed(client: httpx.AsyncClient) -> None:
    headers = await an_account(client, "PROJECT_READ_ONLY")

    answer = await client.post("/api/v1/memory/turns", json={}, headers=headers)

    assert "PROJECT_OWNER or AGENT_DEVELOPER" in answer.json()["error"]
    assert "PROJECT_READ_ONLY" in answer.json()["error"]
