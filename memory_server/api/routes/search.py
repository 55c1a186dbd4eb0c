"""Searching one kind of long-term memory."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter

from memory_server.api.dependencies import Caller, Services, reads
from memory_server.api.entries import CallerOfRoute, ServicesOfApp
from memory_server.api.schemas.search import (
    ChunkDocument,
    SearchAnswer,
    SearchBody,
    TypedSearchBody,
)
from memory_server.domain.chunk import Source
from memory_server.domain.filters import parse_lenient
from memory_server.domain.memory import BUILT_IN, MemoryType
from memory_server.services.search import SearchRequest

router = APIRouter(tags=["search"])

PROCEDURES = 10
"""How many procedures a search returns when it does not say."""


@router.post("/search")
@reads
async def search(
    body: TypedSearchBody, caller: CallerOfRoute, services: ServicesOfApp
) -> SearchAnswer:
    """Search the kind of memory that the body's `type` names."""
    return await _found(services, caller, body, MemoryType(body.type))


def _of(kind: MemoryType) -> Callable[..., Awaitable[SearchAnswer]]:
    async def retrieve(
        body: SearchBody, caller: CallerOfRoute, services: ServicesOfApp
    ) -> SearchAnswer:
        return await _found(services, caller, body, kind)

    return reads(retrieve)


for _kind in BUILT_IN:
    router.add_api_route(
        f"/retrieval/{_kind.value}",
        _of(_kind),
        methods=["POST"],
        name=f"retrieve_{_kind.value}",
        summary=f"Search {_kind.value} memory",
        description=f"Search {_kind.value} memory: `search` without its `type`.",
    )


async def _found(
    services: Services, caller: Caller, body: SearchBody, kind: MemoryType
) -> SearchAnswer:
    narrowing, warnings = parse_lenient(
        body.metadata_filter,
        declared={key.name: key.type for key in services.settings.memory.partition_keys},
    )
    few = kind is MemoryType.PROCEDURAL and "top_k" not in body.model_fields_set
    found = await services.retrieval.search(
        SearchRequest(
            scope=caller.scope(
                user_id=body.user_id,
                visibility=body.visibility,
                session_id=body.session_id if kind is MemoryType.EPISODIC else None,
            ),
            source=Source(kind.value),
            query=body.query,
            top_k=PROCEDURES if few else body.top_k,
            mode=body.mode,
            filter=body.conditions(narrowing),
            as_of=body.as_of,
            threshold=body.similarity_threshold,
        )
    )
    if found.degraded:
        warnings.append(f"words only: {found.degraded}")
    memories = [ChunkDocument.of(chunk, caller.org_id) for chunk in found.chunks]
    return SearchAnswer(memories=memories, warnings=warnings, degraded=found.degraded)
