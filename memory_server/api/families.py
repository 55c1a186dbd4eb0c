"""The same memory routes under three prefixes, and what stands beside them."""

from fastapi import APIRouter, FastAPI

from memory_server.api import description
from memory_server.api.routes import (
    admin,
    archives,
    auth,
    blocks,
    configuration,
    context,
    custom_types,
    episodic,
    executions,
    health,
    invoke,
    local_invoke,
    mcp,
    members,
    oauth,
    procedural,
    projects,
    proposals,
    queue,
    search,
    secrets,
    semantic,
    service_accounts,
    taxonomic,
    turns,
)

API = "/api/v1"
FLAT = f"{API}/memory"
"""Needs no token on the own machine; a token that is presented must be good."""
PROJECT = f"{API}/projects/{{project_id}}/memory"
"""Needs a token of the project."""
DIRECT = API
"""As flat."""

FAMILIES = (FLAT, PROJECT, DIRECT)

MEMORY_ROUTERS = (
    turns.router,
    context.router,
    search.router,
    semantic.router,
    episodic.router,
    taxonomic.router,
    procedural.router,
    custom_types.router,
    blocks.router,
    proposals.router,
    queue.router,
)
OTHER_ROUTERS = (
    admin.router,
    archives.router,
    archives.store_router,
    configuration.router,
    secrets.router,
    auth.router,
    projects.router,
    members.router,
    service_accounts.router,
    oauth.router,
    invoke.router,
    executions.router,
    mcp.router,
)


def _every() -> APIRouter:
    router = APIRouter()
    router.include_router(health.router)
    router.include_router(local_invoke.router)
    for other in OTHER_ROUTERS:
        router.include_router(other, prefix=API)
    for of_project in (admin.router, archives.router):
        router.include_router(of_project, prefix=f"{API}/projects/{{project_id}}")
    for prefix in FAMILIES:
        for memory in MEMORY_ROUTERS:
            router.include_router(memory, prefix=prefix)
    return router


_ROUTES = _every().routes
"""Built once a process, whatever the number of applications: it takes a fifth of a second."""


def mount(app: FastAPI) -> None:
    """Serve every route."""
    app.router.routes.extend(_ROUTES)
    description.describe(app)
