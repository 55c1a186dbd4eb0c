"""Memory types that a project declares itself."""

from typing import NoReturn

from fastapi import APIRouter

from memory_server.api.dependencies import Services, reads
from memory_server.api.entries import CallerOfRoute, ServicesOfApp
from memory_server.api.schemas.memories import CustomBody, CustomQuery
from memory_server.errors import FeatureDisabled, UnknownCustomType

router = APIRouter(prefix="/types", tags=["custom types"])

NOT_ENABLED = "custom_memory_types is not enabled"
"""Clients recognise this phrase and say that the feature is off."""
UNKNOWN = "unknown custom memory type '{}'"
"""Clients recognise this phrase; a 404 without it tells them that the server is too old."""


@router.post("/{type_name}", status_code=201)
async def save_custom(
    type_name: str, body: CustomBody, caller: CallerOfRoute, services: ServicesOfApp
) -> None:
    """Save a memory of a declared type."""
    _refuse(services, type_name)


@router.post("/{type_name}/retrieve")
@reads
async def retrieve_custom(
    type_name: str, body: CustomQuery, caller: CallerOfRoute, services: ServicesOfApp
) -> None:
    """Search among the memories of a declared type."""
    _refuse(services, type_name)


def _refuse(services: Services, type_name: str) -> NoReturn:
    declared = [kind.name for kind in services.settings.memory.custom_memory_types]
    if declared and type_name not in declared:
        raise UnknownCustomType(UNKNOWN.format(type_name))
    raise FeatureDisabled(
        f"{NOT_ENABLED}: no custom memory type is declared"
        if not declared
        else f"{NOT_ENABLED} in this version of the server"
    )
