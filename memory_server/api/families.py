"""The same memory routes under three prefixes, and what stands beside them."""

from fastapi import FastAPI

from memory_server.api import description
from memory_server.api.routes import (
    admin,
    auth,
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
    queue.router,
)
OTHER_ROUTERS = (
    admin.router,
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


def mount(app: FastAPI) -> None:
    """Serve every route."""
    app.include_router(health.router)
    app.include_router(local_invoke.router)
    for router in OTHER_ROUTERS:
        app.include_router(router, prefix=API)
    app.include_router(admin.router, prefix=f"{API}/projects/{{project_id}}")
    for prefix in FAMILIES:
        for router in MEMORY_ROUTERS:
            app.include_router(router, prefix=prefix)
    description.describe(app)
