"""How long calls take, in milliseconds."""

import time
from collections.abc import Awaitable
from typing import TypeVar

from evaluation.pipelines.pipeline import Timing

T = TypeVar("T")


async def timed(timing: Timing, stage: str, call: Awaitable[T]) -> T:
    """Return what a call returns, its time added to those of its stage."""
    began = time.perf_counter()
    answer = await call
    timing.setdefault(stage, []).append(milliseconds(time.perf_counter() - began))
    return answer


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, as exact as they are worth keeping."""
    return round(seconds * 1000, 3)
