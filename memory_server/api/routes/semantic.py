"""Facts."""

from typing import Annotated, Any

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.entries import LIST_LIMIT, Limit, ReadingScope, changed, listed, one
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.api.schemas.memories import Entries, SemanticBody, SemanticPatch, SemanticSaved
from memory_server.domain.memory import MemoryType
from memory_server.ports.memories import MemoryQuery

router = APIRouter(prefix="/semantic", tags=["semantic"])


@router.post("", status_code=201)
async def save_fact(
    body: SemanticBody, caller: CallerOfRoute, services: ServicesOfApp
) -> SemanticSaved:
    """Save a fact."""
    scope = caller.owner(
        user_id=body.user_id,
        visibility=body.visibility,
        session_id=body.session_id,
        agent_id=body.agent_id,
    )
    memory = await services.keeping.save(scope, body.request())
    return SemanticSaved(id=memory.id, label=body.label, has_embedding=memory.has_embedding)


@router.get("")
async def list_facts(
    caller: CallerOfRoute,
    services: ServicesOfApp,
    scope: ReadingScope,
    label: QueryText = None,
    limit: Annotated[Limit, unset_if_blank(LIST_LIMIT)] = LIST_LIMIT,
) -> Entries:
    """List live facts, the newest first; with `label`, those of that label."""
    query = MemoryQuery(type=MemoryType.SEMANTIC, key=label, limit=limit)
    return await listed(services, caller, scope, query)


@router.get("/{memory_id}")
async def read_fact(
    memory_id: str, caller: CallerOfRoute, services: ServicesOfApp, scope: ReadingScope
) -> dict[str, Any]:
    """Return one live fact."""
    return await one(services, caller, scope, MemoryType.SEMANTIC, memory_id)


@router.patch("/{memory_id}")
async def change_fact(
    memory_id: str, body: SemanticPatch, caller: CallerOfRoute, services: ServicesOfApp
) -> dict[str, Any]:
    """Change a fact; a new text makes a new version under the same id."""
    return await changed(services, caller, MemoryType.SEMANTIC, memory_id, body)
