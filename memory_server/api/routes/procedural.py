"""Procedures."""

from typing import Annotated, Any

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.entries import (
    LIST_LIMIT,
    Limit,
    ReadingScope,
    RemovalScope,
    changed,
    listed,
    one,
)
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.api.schemas.memories import (
    Deleted,
    Entries,
    ProceduralBody,
    ProceduralPatch,
    ProceduralSaved,
)
from memory_server.domain.memory import MemoryType
from memory_server.ports.memories import MemoryQuery

router = APIRouter(prefix="/procedural", tags=["procedural"])

IncludeDeleted = Annotated[bool, unset_if_blank(default=False)]


@router.post("", status_code=201)
async def save_procedure(
    body: ProceduralBody, caller: CallerOfRoute, services: ServicesOfApp
) -> ProceduralSaved:
    """Save a procedure; one of the same name stays beside it."""
    scope = caller.owner(user_id=body.user_id, visibility=body.visibility, agent_id=body.agent_id)
    memory = await services.keeping.save(scope, body.request())
    return ProceduralSaved(
        id=memory.id, procedure=body.procedure, has_embedding=memory.has_embedding
    )


@router.get("")
async def list_procedures(
    caller: CallerOfRoute,
    services: ServicesOfApp,
    scope: ReadingScope,
    procedure: QueryText = None,
    include_deleted: IncludeDeleted = False,  # noqa: FBT002 a query parameter
    limit: Annotated[Limit, unset_if_blank(LIST_LIMIT)] = LIST_LIMIT,
) -> Entries:
    """List procedures, live and newest first; with `procedure`, those of that name."""
    query = MemoryQuery(
        type=MemoryType.PROCEDURAL, key=procedure, include_deleted=include_deleted, limit=limit
    )
    return await listed(services, caller, scope, query)


@router.get("/{memory_id}")
async def read_procedure(
    memory_id: str,
    caller: CallerOfRoute,
    services: ServicesOfApp,
    scope: ReadingScope,
    include_deleted: IncludeDeleted = False,  # noqa: FBT002 a query parameter
) -> dict[str, Any]:
    """Return one procedure."""
    return await one(
        services, caller, scope, MemoryType.PROCEDURAL, memory_id, include_deleted=include_deleted
    )


@router.patch("/{memory_id}")
async def change_procedure(
    memory_id: str, body: ProceduralPatch, caller: CallerOfRoute, services: ServicesOfApp
) -> dict[str, Any]:
    """Change a procedure, of its owner only if `user_id` is given."""
    return await changed(services, caller, MemoryType.PROCEDURAL, memory_id, body)


@router.delete("/{memory_id}")
async def delete_procedure(
    memory_id: str,
    services: ServicesOfApp,
    scope: RemovalScope,
    soft: Annotated[bool, unset_if_blank(default=True)] = True,  # noqa: FBT002 a query parameter
) -> Deleted:
    """Hide a procedure, or with `soft=false` remove it with all its versions."""
    count = await services.keeping.delete(scope, MemoryType.PROCEDURAL, memory_id, soft=soft)
    return Deleted(deleted_count=count)
