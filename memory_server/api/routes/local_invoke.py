"""Invoking the agent as programs on the own machine do: without a project and a workspace."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.invoking import started, stream, whole
from memory_server.api.schemas.invoke import LocalAnswer, LocalFrame, LocalInvokeBody

router = APIRouter(tags=["agent"])

WORKSPACE = "local"
FRAMES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": LocalFrame.model_json_schema()}}}
}


@router.post("/invoke", response_model=LocalAnswer)
async def invoke(
    body: LocalInvokeBody,
    caller: CallerOfRoute,
    services: ServicesOfApp,
    request: Request,
    response: Response,
) -> LocalAnswer | Response:
    """Ask the agent of the deployment's own project, and return its answer whole."""
    run = await started(services, caller, WORKSPACE, body, request)
    return await whole(run, request, response, LocalAnswer.of)


@router.post("/invoke/stream", response_class=StreamingResponse, responses=FRAMES)
async def invoke_stream(
    body: LocalInvokeBody, caller: CallerOfRoute, services: ServicesOfApp, request: Request
) -> Response:
    """Ask the agent of the deployment's own project, and stream its answer."""
    run = await started(services, caller, WORKSPACE, body, request)
    return await stream(run, request, LocalFrame)
