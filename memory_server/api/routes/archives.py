"""Archives of projects, out and in; a copy of the whole store."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import IO, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from memory_server.api.dependencies import Owner, ServicesOfApp, StoreOwner
from memory_server.api.errors import request_id
from memory_server.api.places import told
from memory_server.api.schemas.archives import Imported
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.domain.archive import Contents
from memory_server.domain.archive_lines import broken_line
from memory_server.domain.characters import whole
from memory_server.errors import InvalidRequest, MemoryServerError

logger = logging.getLogger(__name__)

router = APIRouter(prefix="/admin", tags=["administration"])
store_router = APIRouter(prefix="/admin", tags=["administration"])
"""Of the whole server, never of one project."""

LINES = "application/x-ndjson"
COPY = "application/vnd.sqlite3"
PIECE = 256 * 1024
"""Bytes of a copy that are read at a time."""

_TEXT = {"schema": {"type": "string"}}
_AS_LINES: dict[int | str, dict[str, Any]] = {200: {"content": {LINES: _TEXT}}}
_AS_COPY: dict[int | str, dict[str, Any]] = {
    200: {"content": {COPY: {"schema": {"type": "string", "format": "binary"}}}}
}
_OF_LINES = {"requestBody": {"required": True, "content": {LINES: _TEXT}}}

QueryFlag = Annotated[bool, unset_if_blank(default=False)]


class Closing(StreamingResponse):
    """A stream whose source is closed however it ends: a reader who leaves holds nothing."""

    def __init__(
        self, pieces: AsyncIterator[bytes], *, media_type: str, close: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(pieces, media_type=media_type, headers={"Cache-Control": "no-store"})
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._close()


@router.get("/export", response_class=StreamingResponse, responses=_AS_LINES)
async def export(
    request: Request,
    owner: Owner,
    services: ServicesOfApp,
    user_id: QueryText = None,
    types: QueryText = None,
    with_vectors: QueryFlag = False,  # noqa: FBT002 a query parameter
) -> StreamingResponse:
    """Export what the project remembers now, of a user or of all, as JSON Lines.

    `types`, joined by commas: `turns`, semantic, episodic, taxonomic, procedural, a type that the
    project declares, or `custom` for all of those. The last line has the counts and a digest;
    where it is missing, the export was cut short. Credentials are never part of it.
    """
    named = frozenset(name.strip() for name in types.split(",")) if types is not None else None
    contents = Contents(
        project_id=owner.project_id, user_id=user_id, types=named, with_vectors=with_vectors
    )
    begun = await services.archiving.export(contents)
    lines = _told(begun.lines(), request_id(request))
    return Closing(lines, media_type=LINES, close=begun.close)


@router.post("/import", openapi_extra=_OF_LINES)
async def take_in(
    request: Request,
    owner: Owner,
    services: ServicesOfApp,
    first_line: Annotated[Annotated[int, Query(ge=2)], unset_if_blank(2)] = 2,
    with_vectors: Annotated[bool, unset_if_blank(default=True)] = True,  # noqa: FBT002 a query parameter
    restore_erased: QueryFlag = False,  # noqa: FBT002 a query parameter
    dry_run: QueryFlag = False,  # noqa: FBT002 a query parameter
) -> Imported:
    """Take in a portion of an export: its first line, then some of the others, in their order.

    All of the portion is stored or nothing; what is there already is not stored again. What is
    older than the erasure of its user is left out unless `restore_erased`. With `dry_run` the
    answer is the same, and nothing is stored.
    """
    portion = await request.body()
    if not portion:
        raise InvalidRequest("the body is empty: send the first line of an export, then others")
    taken = await services.archiving.take_in(
        owner.project_id,
        portion,
        first_line=first_line,
        with_vectors=with_vectors,
        restore_erased=restore_erased,
        dry_run=dry_run,
    )
    return Imported.of(taken)


@store_router.get("/backup", response_class=StreamingResponse, responses=_AS_COPY)
async def back_up(owner: StoreOwner, services: ServicesOfApp) -> StreamingResponse:
    """Copy the database as it is now, with all projects and their credentials; SQLite only.

    It is written to meanwhile. The copy is a file that a server can be started with.
    """
    copy = await services.archiving.copy()

    async def close() -> None:
        copy.close()

    answer = Closing(_pieces(copy), media_type=COPY, close=close)
    answer.headers["Content-Length"] = str(os.fstat(copy.fileno()).st_size)
    return answer


async def _told(lines: AsyncGenerator[bytes], named: str) -> AsyncGenerator[bytes]:
    """Yield the lines; what breaks them off is told in a last one."""
    async with contextlib.aclosing(lines):
        try:
            async for line in lines:
                yield line
        except MemoryServerError as error:
            logger.warning("request %s: the export broke off: %s", named, error)
            yield broken_line(whole(told(error)))


async def _pieces(file: IO[bytes]) -> AsyncGenerator[bytes]:
    while piece := await asyncio.to_thread(file.read, PIECE):
        yield piece
