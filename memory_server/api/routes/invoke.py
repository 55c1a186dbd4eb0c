"""Invoking the agent."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.invoking import started, stream, whole
from memory_server.api.schemas.invoke import Frame, InvokeAnswer, InvokeBody

router = APIRouter(prefix="/projects/{project_id}/workspaces/{workspace}", tags=["agent"])

FRAMES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": Frame.model_json_schema()}}}
}


@router.post("/invoke", response_model=InvokeAnswer)
async def invoke(
    workspace: str,
    body: InvokeBody,
    caller: CallerOfRoute,
    services: ServicesOfApp,
    request: Request,
    response: Response,
) -> InvokeAnswer | Response:
    """Ask the agent, and return its answer whole.

    A caller who does not wait for it ends the work.
    """
    run = await started(services, caller, workspace, body, request)
    return await whole(run, request, response, InvokeAnswer.of)


@router.post("/invokeStream", response_class=StreamingResponse, responses=FRAMES)
async def invoke_stream(
    workspace: str,
    body: InvokeBody,
    caller: CallerOfRoute,
    services: ServicesOfApp,
    request: Request,
) -> Response:
    """Ask the agent, and stream its answer as server-sent events.

    What fails before the first frame is answered with its own status; later it is a frame. While
    the agent says nothing, comments keep the connection alive.
    """
    run = await started(services, caller, workspace, body, request)
    return await stream(run, request, Frame)
