"""Invoking the built-in agent."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from memory_server.api.entries import CallerOfRoute, ServicesOfApp
from memory_server.api.errors import request_id
from memory_server.api.schemas.invoke import Frame, InvokeAnswer, InvokeBody
from memory_server.errors import MemoryServerError
from memory_server.services.invocation import InvokeEvent, InvokeOutcome

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/projects/{project_id}/workspaces/{workspace}", tags=["agent"])

SESSION_HEADER = "X-Session-ID"

_STREAM = {"content": {"text/event-stream": {"schema": Frame.model_json_schema()}}}


@router.post("/invoke")
async def invoke(
    workspace: str,
    body: InvokeBody,
    caller: CallerOfRoute,
    services: ServicesOfApp,
    response: Response,
) -> InvokeAnswer:
    """Ask the agent, and return its answer whole."""
    outcome: InvokeOutcome | None = None
    async for event in services.invocation.invoke(
        caller.principal, body.request(caller.project_id)
    ):
        outcome = event.outcome or outcome
    assert outcome is not None
    response.headers[SESSION_HEADER] = outcome.session_id
    return InvokeAnswer.of(outcome)


@router.post("/invokeStream", response_class=StreamingResponse, responses={200: _STREAM})
async def invoke_stream(
    workspace: str,
    body: InvokeBody,
    caller: CallerOfRoute,
    services: ServicesOfApp,
    request: Request,
) -> StreamingResponse:
    """Ask the agent, and stream its answer as server-sent events.

    What fails before the first frame is answered with its own status; later it is a frame.
    """
    events = services.invocation.invoke(caller.principal, body.request(caller.project_id))
    first = await anext(events)
    return StreamingResponse(
        _frames(first, events, request_id(request)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


async def _frames(
    first: InvokeEvent, events: AsyncIterator[InvokeEvent], request: str
) -> AsyncIterator[str]:
    yield _line(Frame.of(first))
    async with aclosing(events):  # type: ignore[type-var]  # an async generator, typed as its port
        try:
            async for event in events:
                yield _line(Frame.of(event))
        except MemoryServerError as error:
            logger.warning("request %s: the stream broke off: %s", request, error.code)
            metadata = {"code": error.code, "request_id": request}
            yield _line(Frame(chunk_type="error", content=str(error), metadata=metadata))


def _line(frame: Frame) -> str:
    return f"data: {frame.model_dump_json()}\n\n"
