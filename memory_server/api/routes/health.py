"""Whether the server lives, whether it can work, and how much it does."""

import os
from dataclasses import asdict

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from memory_server.api import metrics
from memory_server.api.dependencies import DeploymentOfApp, ServicesOfApp, is_operator
from memory_server.api.schemas.health import Health, ReadinessDocument
from memory_server.api.schemas.servers import ServerDocument
from memory_server.settings import package_version

router = APIRouter(tags=["health"])

READY = "ready"


@router.get("/health")
async def health() -> Health:
    """Answer as soon as the process serves, whatever else fails."""
    return Health(version=package_version())


@router.get("/ready", responses={503: {"model": ReadinessDocument}})
async def ready(
    request: Request, deployment: DeploymentOfApp, response: Response
) -> ReadinessDocument:
    """Answer 200 when the server can do its work, else 503 with what it is blocked on.

    Callers of this machine, and whoever shows the owner token, are also told the process id, the
    store's place and its size, and the servers at work on the store.
    """
    services, look = await deployment.look()
    if look.status != READY:
        response.status_code = 503
    settings = services.settings
    document = ReadinessDocument(
        status=look.status,
        blocked_on=list(look.blocked_on),
        version=package_version(),
        instance_id=settings.instance_id,
        pid=os.getpid(),
        project_id=settings.project_id,
        config_digest=settings.config_digest,
        role=settings.role.value,
        local_models=settings.local_models,
        store=dict(look.store),
        search=dict(look.search),
        embedding=dict(look.embedding),
        extraction=dict(look.extraction),
        background=dict(look.background),
        reembedding=dict(look.reembedding),
        review=dict(look.review),
        agent=asdict(services.invocation.agent),
        servers=[ServerDocument.of(server) for server in services.presence.alive],
        warnings=[*services.presence.warnings, *look.waiting],
    )
    return document if is_operator(request) else document.for_strangers()


@router.get("/metrics", response_class=PlainTextResponse)
async def scrape(request: Request, services: ServicesOfApp) -> Response:
    """Return counters for Prometheus."""
    gathered: metrics.Metrics = request.app.state.metrics
    gathered.set_jobs(await services.administration.counts())
    gathered.set_reembedding(await services.reembedding.report())
    gathered.set_proposals(await services.reviewing.counts())
    gathered.set_servers(services.presence.alive)
    gathered.set_model(services.spending.model, services.spending.by_type())
    gathered.set_waiting(services.breakers, len(await services.spending.waiting()))
    return Response(gathered.text(), media_type=metrics.CONTENT_TYPE)
