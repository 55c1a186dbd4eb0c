"""Keeping what goes wrong inside a piece of work inside it."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class CancelledInside(Exception):
    """Something that the work waited for was cancelled, though nobody cancelled the work."""


async def contained(work: Awaitable[T]) -> T:
    """Await the work; raise `CancelledInside` for a cancellation that came out of it.

    A cancellation that slips out of a task ends it without a word. One that was asked for
    passes unchanged.
    """
    try:
        return await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise CancelledInside(str(CancelledInside.__doc__)) from error
