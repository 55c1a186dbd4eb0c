"""The frames of a streamed answer."""

import json
from collections.abc import AsyncIterator
from typing import cast

from memory_server.client.shapes import StreamFrame
from memory_server.client.transport import data_of, having
from memory_server.errors import MemoryServerError


async def frames(lines: AsyncIterator[str]) -> AsyncIterator[StreamFrame]:
    """Yield the frames of a stream of server-sent events."""
    event: list[str] = []
    async for line in lines:
        if line:
            event.append(line)
            continue
        frame = _frame(event)
        event = []
        if frame is not None:
            yield frame
    frame = _frame(event)
    if frame is not None:
        yield frame


def _frame(event: list[str]) -> StreamFrame | None:
    data = data_of(event)
    if data is None or data == "[DONE]":
        return None
    try:
        frame = json.loads(data)
    except ValueError as error:
        raise MemoryServerError("The server sent a frame that is not JSON") from error
    return cast(StreamFrame, having(frame, "chunk_type"))
