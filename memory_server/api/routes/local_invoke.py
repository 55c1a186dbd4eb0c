"""Invoking the agent as programs on the own machine do: without a project and a workspace."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.invoking import CallerLeft, custom_headers, headers_of, left, stream, whole
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
    asked = body.request(caller.project_id, WORKSPACE, custom_headers(request.headers))
    run = await services.invocation.start(caller.principal, asked)
    try:
        outcome = await whole(run, request)
    except CallerLeft:
        return left()
    response.headers.update(headers_of(run))
    return LocalAnswer.of(outcome)


@router.post("/invoke/stream", response_class=StreamingResponse, responses=FRAMES)
async def invoke_stream(
    body: LocalInvokeBody, caller: CallerOfRoute, services: ServicesOfApp, request: Request
) -> Response:
    """Ask the agent of the deployment's own project, and stream its answer."""
    asked = body.request(caller.project_id, WORKSPACE, custom_headers(request.headers))
    run = await services.invocation.start(caller.principal, asked)
    execution = run.execution.id
    return await stream(
        run,
        request,
        told=lambda event: LocalFrame.told(event, execution),
        done=LocalFrame.done,
        failed=lambda error, request_id: LocalFrame.failed(error, execution, request_id),
    )
