"""Memory types that a project declares itself."""

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp, reads
from memory_server.api.schemas.custom_types import (
    RecordBody,
    RecordDocument,
    RecordQuery,
    Records,
    RecordSaved,
)

router = APIRouter(prefix="/types", tags=["custom types"])


@router.post("/{type_name}", status_code=201)
async def save_record(
    type_name: str, body: RecordBody, caller: CallerOfRoute, services: ServicesOfApp
) -> RecordSaved:
    """Save a record of a declared type, for whoever is calling."""
    record = await services.custom_types.save(
        caller.stamp(),
        type_name,
        content=body.content,
        tags=body.tags,
        contextual_metadata=body.contextual_metadata,
    )
    return RecordSaved.of(record)


@router.post("/{type_name}/retrieve")
@reads
async def retrieve_records(
    type_name: str, body: RecordQuery, caller: CallerOfRoute, services: ServicesOfApp
) -> Records:
    """Search the caller's records of a declared type, by words and by meaning."""
    found = await services.custom_types.retrieve(
        caller.own(), type_name, query=body.query, tags=body.tags, top_k=body.top_k
    )
    results = [RecordDocument.of(chunk) for chunk in found.chunks]
    return Records(results=results, count=len(results), degraded=found.degraded)
