"""Several workers at the same work, and the first that fails ends it."""

import asyncio
from collections.abc import Callable, Coroutine


async def together(work: Callable[[], Coroutine[None, None, None]], *, workers: int) -> None:
    """Run that many workers to their end; raises what the first one raises, not a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    except* Exception as failures:  # noqa: BLE001 - raised again, one of them
        first = _first(failures)
    else:
        return
    raise first


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = failures.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
