"""Building contexts."""

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp, reads
from memory_server.api.schemas.context import ContextBody, ContextDocument, SourcesBody
from memory_server.services.context import ContextRequest, SourcesRequest

router = APIRouter(tags=["context"])


@router.post("/context")
@router.post("/retrieval/context")
@reads
async def build_context(
    body: ContextBody, caller: CallerOfRoute, services: ServicesOfApp
) -> ContextDocument:
    """Search the enabled sources, and format what fits into `max_tokens`."""
    scope = caller.scope(
        user_id=body.user_id, visibility=body.visibility, session_id=body.session_id
    )
    answer = await services.context.build(
        ContextRequest(
            scope=scope,
            query=body.query,
            sources=tuple(dict.fromkeys(body.enabled_sources)),
            top_k=body.top_k,
            metadata_filter=body.metadata_filter,
            max_tokens=body.max_tokens,
            style=body.format_style,
        )
    )
    return ContextDocument.of(answer, caller.org_id, with_memories=body.include_memories)


@router.post("/retrieval/context-from-sources")
@reads
async def build_context_from_sources(
    body: SourcesBody, caller: CallerOfRoute, services: ServicesOfApp
) -> ContextDocument:
    """Search each source with a mode, a filter and a number of its own.

    A source that fails is reported in `source_outcomes`; 503 when every one fails.
    """
    scope = caller.scope(
        user_id=body.user_id, visibility=body.visibility, session_id=body.session_id
    )
    answer = await services.context.build_from_sources(
        SourcesRequest(
            scope=scope,
            query=body.query,
            sources=[spec.request() for spec in body.sources],
            rerank=body.rerank,
            max_tokens=body.max_tokens,
            style=body.format_style,
        )
    )
    return ContextDocument.of(answer, caller.org_id, with_memories=body.include_memories)
