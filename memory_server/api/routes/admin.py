"""What operators see and do; the owner token opens it."""

from typing import Annotated, Any

from fastapi import APIRouter

from memory_server.api.dependencies import Owner, ServicesOfApp
from memory_server.api.entries import LIST_LIMIT, Limit
from memory_server.api.schemas.admin import (
    CountsDocument,
    Erased,
    FlushBody,
    Flushed,
    History,
    JobDocument,
    Jobs,
    Retried,
    Shown,
    SpendingDocument,
    decided,
    shown,
)
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.domain.job import JobState
from memory_server.domain.scope import Scope
from memory_server.errors import InvalidRequest

router = APIRouter(prefix="/admin", tags=["administration"])

QueryState = Annotated[JobState | None, unset_if_blank(default=None)]

DEFAULT_JOBS = 100


@router.get("/memories")
async def show_memories(
    owner: Owner,
    services: ServicesOfApp,
    user_id: QueryText = None,
    type: QueryText = None,
    include_history: Annotated[bool, unset_if_blank(default=False)] = False,  # noqa: FBT002 a query parameter
    limit: Annotated[Limit, unset_if_blank(LIST_LIMIT)] = LIST_LIMIT,
) -> Shown:
    """Show live memories with the turns they rest on, and former versions if asked.

    `type` is semantic, episodic, taxonomic, procedural, a type that the project declares, or
    `custom` for all of those.
    """
    kind, custom_type = services.custom_types.meant(type)
    scope = Scope(project_id=owner.project_id, user_id=user_id)
    found = await services.administration.remembered(
        scope,
        kind=kind,
        custom_type=custom_type,
        include_history=include_history,
        limit=limit,
    )
    return Shown(
        memories=[shown(remembered) for remembered in found],
        counts=dict(await services.administration.memory_counts(scope)),
    )


@router.get("/memories/{memory_id}")
async def show_memory(
    memory_id: str,
    owner: Owner,
    services: ServicesOfApp,
    include_history: Annotated[bool, unset_if_blank(default=False)] = False,  # noqa: FBT002 a query parameter
) -> dict[str, Any]:
    """Show one memory with the words it rests on, and former versions with theirs if asked.

    Also one that was taken back; a former version's id means the memory that it was. A turn that
    expired, or was removed after its promotion, is counted in `missing_turns`: the memory stays,
    and `said_at` and `speakers` tell when and by whom it was said. Erasing the user removes all.
    """
    scope = Scope(project_id=owner.project_id)
    return shown(
        await services.administration.memory(scope, memory_id, include_history=include_history)
    )


@router.get("/memories/{memory_id}/history")
async def show_history(memory_id: str, owner: Owner, services: ServicesOfApp) -> History:
    """Show every version of a memory, the oldest first."""
    versions = await services.keeping.history(Scope(project_id=owner.project_id), memory_id)
    return History(versions=[decided(version, owner.org_id) for version in versions])


@router.post("/flush")
async def flush(owner: Owner, services: ServicesOfApp, body: FlushBody | None = None) -> Flushed:
    """Promote waiting turns now, of a session, of a user, or all."""
    wanted = body or FlushBody()
    promoted = await services.promotion.flush(
        owner.project_id, session_id=wanted.session_id, user_id=wanted.user_id
    )
    return Flushed(
        snapshots=len(promoted.snapshots), jobs=promoted.jobs, warnings=list(promoted.warnings)
    )


@router.get("/jobs")
async def list_jobs(
    owner: Owner,
    services: ServicesOfApp,
    state: QueryState = None,
    user_id: QueryText = None,
    limit: Annotated[Limit, unset_if_blank(DEFAULT_JOBS)] = DEFAULT_JOBS,
) -> Jobs:
    """List background jobs, in a state and of a user if they are named, the newest first."""
    jobs = await services.administration.jobs(
        owner.project_id, state=state, user_id=user_id, limit=limit
    )
    counts = await services.administration.counts(owner.project_id)
    spending = await services.spending.of_project(owner.project_id)
    return Jobs(
        jobs=[JobDocument.of(job) for job in jobs],
        counts=CountsDocument.of(counts),
        spending=SpendingDocument.of(spending),
    )


@router.post("/jobs/retry")
async def retry_failed_jobs(owner: Owner, services: ServicesOfApp) -> Retried:
    """Queue every failed job of the project again."""
    return Retried(retried=await services.administration.retry_failed(owner.project_id))


@router.post("/jobs/{job_id}/retry")
async def retry_job(job_id: str, owner: Owner, services: ServicesOfApp) -> JobDocument:
    """Queue a failed job again."""
    return JobDocument.of(await services.administration.retry_job(owner.project_id, job_id))


@router.delete("/scope")
async def erase_scope(
    owner: Owner,
    services: ServicesOfApp,
    user_id: QueryText = None,
    everybody: Annotated[bool, unset_if_blank(default=False)] = False,  # noqa: FBT002 a query parameter
) -> Erased:
    """Remove everything of a user for good, or of everybody, and tell how much it was.

    A small database file is written anew before the answer; a large one after it, which takes
    about two seconds for 100 MB, in which writes wait. `traces` tells which.
    """
    if everybody and user_id is not None:
        raise InvalidRequest("name a user_id or say everybody=true, not both")
    if everybody:
        erasure = await services.administration.erase_everybody(owner.project_id)
    else:
        erasure = await services.administration.erase(owner.project_id, user_id=user_id)
    return Erased(deleted=dict(erasure.counts), traces=erasure.traces.value)
