"""Episodes."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.entries import Limit, ReadingScope, listed
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.api.schemas.memories import Entries, EpisodicBody, EpisodicSaved
from memory_server.domain.memory import MemoryType
from memory_server.ports.memories import MemoryQuery

router = APIRouter(prefix="/episodic", tags=["episodic"])

DEFAULT_LIMIT = 20


@router.post("", status_code=201)
async def save_episode(
    body: EpisodicBody, caller: CallerOfRoute, services: ServicesOfApp
) -> EpisodicSaved:
    """Save an episode."""
    scope = caller.owner(
        user_id=body.user_id,
        visibility=body.visibility,
        session_id=body.session_id,
        agent_id=body.agent_id,
    )
    memory = await services.keeping.save(scope, body.request())
    return EpisodicSaved(id=memory.id, title=body.title, has_embedding=memory.has_embedding)


@router.get("")
async def list_episodes(
    caller: CallerOfRoute,
    services: ServicesOfApp,
    scope: ReadingScope,
    session_id: QueryText = None,
    limit: Annotated[Limit, unset_if_blank(DEFAULT_LIMIT)] = DEFAULT_LIMIT,
) -> Entries:
    """List live episodes, the newest first; with `session_id`, those of that session."""
    query = MemoryQuery(type=MemoryType.EPISODIC, limit=limit)
    return await listed(services, caller, replace(scope, session_id=session_id), query)
