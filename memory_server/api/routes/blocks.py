"""Exchanges of conversations, kept as blocks."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp, reads
from memory_server.api.entries import ReadingScope
from memory_server.api.schemas.blocks import (
    BlockDocument,
    Blocks,
    BlocksBody,
    BlockSearch,
    BlocksReceipt,
    FoundBlocks,
)
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.domain import surprises
from memory_server.domain.chunk import Source
from memory_server.domain.exchange import Viewpoint
from memory_server.domain.limits import MAX_LISTED
from memory_server.services.search import SearchRequest
from memory_server.services.stages import recording

router = APIRouter(prefix="/blocks", tags=["blocks"])

Limit = Annotated[int, Field(ge=1, le=MAX_LISTED)]
QueryViewpoint = Annotated[Viewpoint | None, unset_if_blank(None)]


@router.post("", status_code=201)
async def record_blocks(
    body: BlocksBody, caller: CallerOfRoute, services: ServicesOfApp
) -> BlocksReceipt:
    """Store the exchanges of these messages, durably, all or none."""
    scope = caller.owner(user_id=body.user_id, agent_id=body.agent_id)
    with recording() as stages:
        recorded = await services.blocks.record(scope, body.conversation())
    failed = body.sync and await services.blocks.failed(recorded.blocks)
    return BlocksReceipt.of(recorded, failed=failed, timing=stages.milliseconds)


@router.get("")
async def list_blocks(
    scope: ReadingScope,
    services: ServicesOfApp,
    conversation_id: QueryText = None,
    exchange_id: QueryText = None,
    viewpoint: QueryViewpoint = None,
    limit: Limit = 100,
) -> Blocks:
    """Return blocks, the newest first."""
    found = await services.blocks.find(
        scope,
        conversation_id=conversation_id,
        exchange_id=exchange_id,
        viewpoint=viewpoint,
        limit=limit,
    )
    return Blocks(blocks=[*map(BlockDocument.of, found)], count=len(found))


@router.get("/{block_id}")
async def read_block(block_id: str, scope: ReadingScope, services: ServicesOfApp) -> BlockDocument:
    """Return one block."""
    return BlockDocument.of(await services.blocks.get(scope, block_id))


@router.post("/search")
@reads
async def search_blocks(
    body: BlockSearch, caller: CallerOfRoute, services: ServicesOfApp
) -> FoundBlocks:
    """Search exchanges by words and by meaning: each is found once."""
    scope = caller.scope(user_id=body.user_id, session_id=body.conversation_id)
    narrowing = services.partitions.filter(Source.BLOCK, body.mode, body.metadata_filter)
    with recording() as stages:
        found = await services.retrieval.search(
            SearchRequest(
                scope=scope,
                source=Source.BLOCK,
                query=body.query,
                top_k=body.top_k,
                mode=body.mode,
                filter=body.conditions(narrowing),
                as_of=body.as_of,
                threshold=body.similarity_threshold,
            )
        )
    warnings = [
        *surprises.of_scope(scope, [Source.BLOCK]),
        *surprises.of_query(body.query, [body.mode]),
        *surprises.of_degraded([found.degraded]),
    ]
    return FoundBlocks.of(found, warnings=warnings, timing=stages.milliseconds)
