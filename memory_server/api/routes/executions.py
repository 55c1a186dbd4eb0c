"""What became of an invocation, and stopping one."""

from typing import Annotated

from fastapi import APIRouter, Query

from memory_server.api.caller import Caller
from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.schemas.invoke import ExecutionDocument
from memory_server.domain.execution import Execution
from memory_server.domain.limits import MAX_ID
from memory_server.domain.policy import may_see_execution
from memory_server.errors import ExecutionNotFound, NotSuspended
from memory_server.services.executions import ExecutionKeeping

router = APIRouter(prefix="/projects/{project_id}/executions/{execution_id}", tags=["agent"])

Workspace = Annotated[
    str, Query(description="The workspace it was invoked in.", min_length=1, max_length=MAX_ID)
]


@router.get("")
async def get_execution(
    execution_id: str, workspace_id: Workspace, caller: CallerOfRoute, services: ServicesOfApp
) -> ExecutionDocument:
    """Return an execution as it stands, on whichever server: for a day after it ended.

    With a SQLite store, until the server ends at the most.
    """
    found = await _found(services.executions, caller, execution_id, workspace_id)
    return ExecutionDocument.of(found)


@router.post("/cancel")
async def cancel_execution(
    execution_id: str, workspace_id: Workspace, caller: CallerOfRoute, services: ServicesOfApp
) -> ExecutionDocument:
    """Stop an execution; one that is over stays as it ended."""
    found = await _found(services.executions, caller, execution_id, workspace_id)
    return ExecutionDocument.of(await services.executions.cancel(found.id) or found)


@router.post("/interrupt")
async def interrupt_execution(
    execution_id: str, workspace_id: Workspace, caller: CallerOfRoute, services: ServicesOfApp
) -> ExecutionDocument:
    """Refuse: agents here run to their end, or are cancelled."""
    found = await _found(services.executions, caller, execution_id, workspace_id)
    raise NotSuspended(
        f"execution {found.id} is {found.status} and cannot be interrupted to go on later: agents "
        "here run to their end. Stop it with cancel"
    )


@router.post("/resume")
async def resume_execution(
    execution_id: str, workspace_id: Workspace, caller: CallerOfRoute, services: ServicesOfApp
) -> ExecutionDocument:
    """Refuse: nothing here is ever suspended."""
    found = await _found(services.executions, caller, execution_id, workspace_id)
    raise NotSuspended(
        f"execution {found.id} is {found.status}, not suspended: go on in its session with another "
        "invocation"
    )


async def _found(
    executions: ExecutionKeeping, caller: Caller, execution_id: str, workspace: str
) -> Execution:
    found = await executions.find(execution_id)
    if (
        found is None
        or (found.project_id, found.workspace) != (caller.project_id, workspace)
        or not may_see_execution(caller.principal, found)
    ):
        raise ExecutionNotFound(
            f"execution_id: no execution {execution_id!r} is known in this workspace; executions "
            "are known for a day, and where memory is kept in SQLite until the server ends"
        )
    return found
