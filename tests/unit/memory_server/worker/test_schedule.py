import asyncio
import logging
from datetime import timedelta

import pytest

from memory_server.errors import StorageUnavailable
from memory_server.worker.schedule import Duty, Schedule
from tests.clock import ManualClock

MINUTE = timedelta(minutes=1)


class Counter:
    """Counts how often it acts, and lets a test wait for the next time."""

    def __init__(self) -> None:
        self.times = 0
        self.error: BaseException | None = None
        self._acted = asyncio.Event()

    async def act(self) -> None:
        self.times += 1
        self._acted.set()
        if self.error is not None:
            raise self.error

    async def next_time(self) -> None:
        await self._acted.wait()
        self._acted.clear()
        # The schedule goes to sleep before the clock may be moved.
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def schedule(clock: ManualClock, counter: Counter) -> Schedule:
    return Schedule(clock=clock, duties=[Duty(name="count", every=MINUTE, act=counter.act)])


async def pass_time(clock: ManualClock, seconds: float) -> None:
    """Turn the clock in steps: a duty sleeps a tenth of its period, then the rest."""
    for _ in range(10):
        clock.advance(by=timedelta(seconds=seconds / 10))
        for _ in range(20):
            await asyncio.sleep(0)


async def test_duty_runs_at_once_and_then_by_its_period(
    schedule: Schedule, counter: Counter, clock: ManualClock
) -> None:
    running = asyncio.create_task(schedule.run())
    await counter.next_time()
    await pass_time(clock, 61)

    assert counter.times == 2
    schedule.stop()
    await running


async def test_hurried_duty_runs_before_its_period_ends(
    schedule: Schedule, counter: Counter, clock: ManualClock
) -> None:
    running = asyncio.create_task(schedule.run())
    await counter.next_time()
    schedule.hurry("count")
    await pass_time(clock, 7)

    assert counter.times == 2
    schedule.stop()
    await running


@pytest.mark.parametrize(
    "error", [StorageUnavailable(), ZeroDivisionError(), asyncio.CancelledError()]
)
async def test_failing_duty_is_told_and_tried_again(
    schedule: Schedule,
    counter: Counter,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
    error: BaseException,
) -> None:
    counter.error = error
    with caplog.at_level(logging.WARNING):
        running = asyncio.create_task(schedule.run())
        await counter.next_time()
        await pass_time(clock, 61)

    assert counter.times == 2
    assert "count" in caplog.text
    schedule.stop()
    await running


async def test_stop_does_not_wait_for_the_period(schedule: Schedule, counter: Counter) -> None:
    running = asyncio.create_task(schedule.run())
    await counter.next_time()

    schedule.stop()

    await running
