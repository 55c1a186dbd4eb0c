"""Several questions to the database at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the answers of all, in order; raises what failed first.

    Unlike `asyncio.gather` it leaves nobody behind: where one fails or the caller is cancelled, it
    ends when all have ended, so that no call goes on over a client that is closed.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
