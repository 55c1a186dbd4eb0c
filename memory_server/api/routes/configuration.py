"""Configuring the server over HTTP: store, apply, look."""

from typing import Any

from fastapi import APIRouter, Request

from memory_server.api.dependencies import DeploymentOfApp, Owner, ServicesOfApp
from memory_server.api.schemas.configuration import (
    AppliedDocument,
    ApplyBody,
    ApplyState,
    ConfigBody,
    ConfigDocument,
    ConfigStored,
    RuntimeDocument,
)
from memory_server.api.schemas.errors import ErrorDocument
from memory_server.api.serving import PIN
from memory_server.domain.policy import Right, has_right
from memory_server.settings import package_version

router = APIRouter(prefix="/admin", tags=["configuration"])


_FAILED: dict[int | str, dict[str, Any]] = {
    502: {"model": ErrorDocument, "description": "The new services are not ready; the old serve on"}
}


@router.get("/config")
async def read_config(owner: Owner, deployment: DeploymentOfApp) -> ConfigDocument:
    """Show the configuration that is stored and the one that runs."""
    return ConfigDocument.of(await deployment.config())


@router.put("/config")
async def store_config(body: ConfigBody, owner: Owner, deployment: DeploymentOfApp) -> ConfigStored:
    """Store a configuration for the next apply; nothing is restarted.

    Every problem is told at once, by its path, and nothing is stored then. A service account
    cannot change where conversations and keys are sent: the provider, its address and its key.
    """
    may_redirect = has_right(owner.principal, Right.KEEP_CREDENTIALS)
    return ConfigStored.of(await deployment.store_config(body.memory, may_redirect=may_redirect))


@router.post("/apply", responses=_FAILED)
async def apply(
    request: Request, owner: Owner, deployment: DeploymentOfApp, body: ApplyBody | None = None
) -> AppliedDocument:
    """Put the stored configuration into effect, once the models of it are ready.

    Requests that have begun end on the services they began on, and none is refused meanwhile.
    """
    request.scope[PIN].end()  # an apply may have to wait for the requests that have begun
    return AppliedDocument.of(await deployment.apply((body or ApplyBody()).request()))


@router.post("/reembedding", responses=_FAILED)
async def reembed(owner: Owner, deployment: DeploymentOfApp) -> AppliedDocument:
    """Have all vectors made anew if they are not of the configured embedding model.

    The work goes on in the background, and the former vectors answer until it ends; readiness
    tells how far it is. If the configured model answers already, what is being made of another
    one is given up.
    """
    return AppliedDocument.of(await deployment.reembed())


@router.get("/runtime")
async def read_runtime(
    owner: Owner, services: ServicesOfApp, deployment: DeploymentOfApp
) -> RuntimeDocument:
    """Show how the server is, whether ready or not, and what it runs."""
    return RuntimeDocument.of(
        (await deployment.look())[1],
        await deployment.config(),
        await services.administration.counts(),
        apply=ApplyState.of(deployment.applies.last, running=deployment.applies.is_at_work),
        version=package_version(),
        project_id=services.settings.project_id,
        projects=[project.id for project in await services.projects.list()],
        presence=services.presence,
    )
