"""Calls that run at once end at once."""

import asyncio
from collections.abc import Sequence

import pytest

from memory_server.errors import StorageUnavailable
from memory_server.storage.mongo.together import together


async def _answer(number: int, *, after: int) -> int:
    for _ in range(after):
        await asyncio.sleep(0)
    return number


async def test_answers_come_in_the_order_of_the_calls() -> None:
    assert await together(_answer(number, after=3 - number) for number in range(3)) == [0, 1, 2]


async def test_the_first_failure_is_raised_after_all_calls_have_ended() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise StorageUnavailable("away")

    async def stay() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # as the driver does, which lets a connection go
            ended.append("stayed")

    with pytest.raises(StorageUnavailable, match="away"):
        await together([stay(), fail()])

    assert ended == ["stayed"]


async def test_a_caller_that_is_cancelled_leaves_no_call_behind() -> None:
    begun, ended = asyncio.Event(), list[str]()

    async def stay() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("stayed")

    async def ask() -> Sequence[None]:
        return await together([stay(), stay()])

    asking = asyncio.create_task(ask())
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert ended == ["stayed", "stayed"]
