"""Between an invocation and its caller: their own headers in, the whole answer or frames out."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Protocol, TypeVar

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.datastructures import Headers

from memory_server.api.caller import Caller
from memory_server.api.connections import CUSTOM_PREFIX
from memory_server.api.errors import request_id
from memory_server.api.schemas.common import Answer
from memory_server.api.schemas.invoke import InvokeBody
from memory_server.api.serving import Services
from memory_server.domain.limits import MAX_CUSTOM_HEADER_BYTES, MAX_CUSTOM_HEADERS
from memory_server.errors import InvalidRequest, MemoryServerError, TooLarge
from memory_server.ports.agent import AgentEvent
from memory_server.services.agent_run import KeepAlive
from memory_server.services.invocation import InvokeOutcome, Run

logger = logging.getLogger(__name__)

SESSION_HEADER = "X-Session-ID"
EXECUTION_HEADER = "X-Execution-ID"

KEEP_ALIVE = ": keep-alive\n\n"
"""A comment of server-sent events: clients pass it over."""

_CALLER_LEFT = 499
T = TypeVar("T")


class Frames(Protocol):
    """How a kind of frames says what happens."""

    def told(self, event: AgentEvent, execution_id: str) -> Answer:
        """Return the frame of what the agent tells."""

    def done(self, outcome: InvokeOutcome) -> Answer:
        """Return the last frame of an answer."""

    def failed(self, error: MemoryServerError, execution_id: str, request_id: str) -> Answer:
        """Return the last frame of an answer that broke off."""


class CallerLeft(Exception):
    """Nobody waits for the answer any more."""


async def started(
    services: Services, caller: Caller, workspace: str, body: InvokeBody, request: Request
) -> Run:
    """Begin what a request asks of the agent."""
    asked = body.request(caller.project_id, workspace, custom_headers(request.headers))
    return await services.invocation.start(caller.principal, asked)


def custom_headers(headers: Headers) -> dict[str, str]:
    """Return the caller's own headers by what follows the prefix, in lower case.

    Raises `InvalidRequest` for too many, and `TooLarge` naming one that is too long.
    """
    found: dict[str, str] = {}
    for name, value in headers.items():
        short = name.lower().removeprefix(CUSTOM_PREFIX)
        if short == name.lower() or not short:
            continue
        if len(value.encode("latin-1", "replace")) > MAX_CUSTOM_HEADER_BYTES:
            raise TooLarge(f"header {name}: {MAX_CUSTOM_HEADER_BYTES} bytes at most")
        found[short] = value
    if len(found) > MAX_CUSTOM_HEADERS:
        raise InvalidRequest(
            f"headers: {len(found)} begin with {CUSTOM_PREFIX}; {MAX_CUSTOM_HEADERS} at most"
        )
    return found


async def whole(
    run: Run, request: Request, response: Response, answer: Callable[[InvokeOutcome], T]
) -> T | Response:
    """Return how a run ends, as an answer; when nobody waits for that any more, it is stopped."""
    try:
        outcome = await _unless_left(request, _to_the_end(run))
    except CallerLeft:
        return _left_alone()
    response.headers.update(_headers_of(run))
    return answer(outcome)


async def stream(run: Run, request: Request, frames: Frames) -> Response:
    """Return a run as server-sent events.

    What fails before anything was told is raised, to be answered with its own status.
    """
    execution_id = run.execution.id
    events = run.events()
    try:
        first = await _unless_left(request, anext(events, None))
    except CallerLeft:
        return _left_alone()

    def line(event: AgentEvent | KeepAlive) -> str:
        if isinstance(event, KeepAlive):
            return KEEP_ALIVE
        return _line(frames.told(event, execution_id))

    async def lines() -> AsyncIterator[str]:
        if first is not None:
            yield line(first)
        async with aclosing(events):
            try:
                async for event in events:
                    yield line(event)
                yield _line(frames.done(run.outcome()))
            except MemoryServerError as error:
                logger.warning(
                    "request %s: the stream broke off: %s", request_id(request), error.code
                )
                yield _line(frames.failed(error, execution_id, request_id(request)))

    return StreamingResponse(
        lines(),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", **_headers_of(run)},
    )


def _left_alone() -> Response:
    """Return what is answered to nobody."""
    return Response(status_code=_CALLER_LEFT)


def _headers_of(run: Run) -> dict[str, str]:
    """Return the headers that an answer to an invocation has."""
    return {SESSION_HEADER: run.execution.session_id, EXECUTION_HEADER: run.execution.id}


async def _to_the_end(run: Run) -> InvokeOutcome:
    events: AsyncGenerator[AgentEvent | KeepAlive]
    async with aclosing(run.events()) as events:
        async for _ in events:
            pass
    return run.outcome()


async def _unless_left(request: Request, work: Awaitable[T]) -> T:
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise CallerLeft
        return working.result()
    finally:
        leaving.cancel()
        working.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _line(frame: Answer) -> str:
    return f"data: {frame.model_dump_json()}\n\n"
