"""The secrets of a project. Values are never returned."""

from typing import Annotated

from fastapi import APIRouter, Depends

from memory_server.api.dependencies import DeploymentOfApp, Keyholder, ServicesOfApp
from memory_server.api.schemas.secrets import SecretBody, SecretDocument, SecretKept, SecretList
from memory_server.errors import SecretNotFound, SecretNotServed

router = APIRouter(prefix="/projects/{project_id}/secrets", tags=["secrets"])


async def is_served(owner: Keyholder, services: ServicesOfApp) -> bool:
    """Whether it is the deployment's own project: the models read only its secrets."""
    return owner.project_id == services.settings.project_id


Served = Annotated[bool, Depends(is_served)]


@router.get("")
async def list_secrets(served: Served, deployment: DeploymentOfApp) -> SecretList:
    """List the secrets that were set here, without their values."""
    found = [*map(SecretDocument.of, await deployment.secrets())] if served else []
    return SecretList(secrets=found, total=len(found))


@router.put("/{name}")
async def put_secret(
    name: str,
    body: SecretBody,
    served: Served,
    services: ServicesOfApp,
    deployment: DeploymentOfApp,
) -> SecretKept:
    """Create or replace a secret; the models are given it by the next apply."""
    if not served:
        own = services.settings.project_id
        raise SecretNotServed(
            f"nothing was stored: the models of this server serve all its projects and read the "
            f"secrets of project {own!r} only. Set it there"
        )
    secret = await deployment.put_secret(
        name, body.value.get_secret_value(), description=body.description
    )
    return SecretKept.of(secret)


@router.delete("/{name}", status_code=204)
async def delete_secret(name: str, served: Served, deployment: DeploymentOfApp) -> None:
    """Remove a secret; the models do without it from the next apply on."""
    if not served:
        raise SecretNotFound("the project has no secret of that name")
    await deployment.delete_secret(name)
