"""How much background work there is."""

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.schemas.admin import QueueStats

router = APIRouter(tags=["queue"])


@router.get("/worker/queueStats")
@router.get("/queueStats")
async def queue_stats(caller: CallerOfRoute, services: ServicesOfApp) -> QueueStats:
    """Count the jobs of the whole server by state."""
    counts = await services.administration.counts()
    return QueueStats(queued=counts.queued, running=counts.running, failed=counts.failed)
