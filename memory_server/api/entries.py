"""Reading stored memories as documents: what the four kinds have in common."""

from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field

from memory_server.api.caller import Caller
from memory_server.api.dependencies import CallerOfRoute
from memory_server.api.schemas.common import QueryText, QueryVisibility
from memory_server.api.schemas.memories import Entries, Patch, document
from memory_server.api.serving import Services
from memory_server.domain.limits import MAX_LISTED
from memory_server.domain.memory import MemoryType
from memory_server.domain.scope import Scope
from memory_server.errors import MemoryNotFound
from memory_server.ports.memories import MemoryQuery

LIST_LIMIT = MAX_LISTED
"""The most entries that one listing returns, where all are asked for."""
Limit = Annotated[int, Field(ge=1, le=LIST_LIMIT)]


async def reading_scope(
    caller: CallerOfRoute, user_id: QueryText = None, visibility: QueryVisibility = None
) -> Scope:
    """Return the scope that a read's query parameters describe."""
    return caller.scope(user_id=user_id, visibility=visibility)


async def removal_scope(
    caller: CallerOfRoute, user_id: QueryText = None, visibility: QueryVisibility = None
) -> Scope:
    """Return the scope in which what the query parameters describe may be removed."""
    return caller.removing(user_id=user_id, visibility=visibility)


ReadingScope = Annotated[Scope, Depends(reading_scope)]
RemovalScope = Annotated[Scope, Depends(removal_scope)]


async def listed(services: Services, caller: Caller, scope: Scope, query: MemoryQuery) -> Entries:
    """Return the memories that a query finds, live and newest first."""
    found = await services.keeping.find(scope, query)
    return Entries(entries=[document(memory, caller.org_id) for memory in found])


async def one(
    services: Services,
    caller: Caller,
    scope: Scope,
    kind: MemoryType,
    memory_id: str,
    *,
    include_deleted: bool = False,
) -> dict[str, Any]:
    """Return one memory of that kind, or raise `MemoryNotFound`; former versions are not found."""
    memory = await services.keeping.get(scope, memory_id)
    hidden = memory.deleted and not include_deleted
    if memory.type is not kind or not memory.is_latest or hidden:
        raise MemoryNotFound(f"no {kind.value} memory has the id {memory_id!r}")
    return document(memory, caller.org_id)


async def changed(
    services: Services, caller: Caller, kind: MemoryType, memory_id: str, patch: Patch
) -> dict[str, Any]:
    """Change a memory and return it as it is now."""
    scope = caller.changing(user_id=patch.user_id)
    memory = await services.keeping.patch(scope, kind, memory_id, patch.changes())
    return document(memory, caller.org_id)
