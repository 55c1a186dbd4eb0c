"""Searching one kind of long-term memory, or what was said."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter

from memory_server.api.caller import Caller
from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp, reads
from memory_server.api.schemas.search import (
    ChunkDocument,
    PredicateDocument,
    SearchAnswer,
    SearchBody,
    TurnSearchBody,
    TypedSearchBody,
)
from memory_server.api.serving import Services
from memory_server.domain import surprises
from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.filters import Filter
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


@router.post("/turns/search")
@reads
async def search_turns(
    body: TurnSearchBody, caller: CallerOfRoute, services: ServicesOfApp
) -> SearchAnswer:
    """Search what was said, turn by turn, whether anything was extracted of it or not."""
    mode, narrowing = _narrowed(services, body, Source.STM)
    scope = caller.scope(user_id=body.user_id, session_id=body.session_id)
    request = SearchRequest(
        scope=scope,
        source=Source.STM,
        query=body.query,
        top_k=body.top_k,
        mode=mode,
        filter=narrowing,
        threshold=body.similarity_threshold,
    )
    return await _answered(services, caller, request, asked=body.mode)


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
    source = Source(kind.value)
    mode, narrowing = _narrowed(services, body, source)
    few = kind is MemoryType.PROCEDURAL and "top_k" not in body.model_fields_set
    scope = caller.scope(
        user_id=body.user_id,
        visibility=body.visibility,
        session_id=body.session_id if kind is MemoryType.EPISODIC else None,
    )
    request = SearchRequest(
        scope=scope,
        source=source,
        query=body.query,
        top_k=PROCEDURES if few else body.top_k,
        mode=mode,
        filter=body.conditions(narrowing),
        as_of=body.as_of,
        threshold=body.similarity_threshold,
    )
    return await _answered(services, caller, request, asked=body.mode)


async def _answered(
    services: Services, caller: Caller, request: SearchRequest, *, asked: RetrievalMode
) -> SearchAnswer:
    found = await services.retrieval.search(request)
    warnings = [
        *surprises.of_scope(request.scope, [request.source]),
        *surprises.of_query(request.query, [request.mode]),
        *surprises.of_legs(asked, request.mode),
        *surprises.of_degraded([found.degraded]),
    ]
    return SearchAnswer(
        memories=[ChunkDocument.of(chunk, caller.org_id) for chunk in found.chunks],
        predicate=PredicateDocument.of(found.selection),
        warnings=warnings,
        degraded=found.degraded,
    )


def _narrowed(
    services: Services, body: SearchBody | TurnSearchBody, source: Source
) -> tuple[RetrievalMode, Filter | None]:
    """Return the mode and the filter of a search.

    A search that names no mode has the widest in which its filter is declared.
    """
    partitions = services.partitions
    if "mode" in body.model_fields_set:
        return body.mode, partitions.filter(source, body.mode, body.metadata_filter)
    return partitions.filter_in_any_mode(source, body.metadata_filter)
