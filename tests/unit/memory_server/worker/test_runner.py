import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import (
    InvalidAnswer,
    LeaseLost,
    ProviderRateLimited,
    ProviderUnavailable,
    Refused,
    VersionConflict,
)
from memory_server.ports.store import Store
from memory_server.storage.sqlite.store import SqliteStore
from memory_server.worker.runner import Runner
from tests.clock import START, ManualClock


def a_job(job_id: str) -> Job:
    return Job(
        id=job_id,
        project_id="p",
        kind=JobKind.EMBED,
        key=f"key-of-{job_id}",
        payload={},
        created_at=START,
        due_at=START,
    )


Handler = Callable[[Job], Awaitable[None]]


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[Store]:
    store = SqliteStore(None, clock=clock)
    await store.open()
    await store.jobs.enqueue([a_job("j1")])
    yield store
    await store.close()


def a_runner(store: Store, clock: ManualClock, handler: Handler) -> Runner:
    return Runner(
        jobs=store.jobs,
        handlers={JobKind.EMBED: handler},
        clock=clock,
        worker="w",
        retry=RetryPolicy(max_attempts=3),
    )


async def state(store: Store) -> tuple[JobState, str | None]:
    [job] = await store.jobs.list("p")
    return job.state, job.error_code


async def test_job_that_settles_itself_is_done(store: Store, clock: ManualClock) -> None:
    async def settle(job: Job) -> None:
        await store.jobs.complete(job, result={}, now=clock.now())

    assert await a_runner(store, clock, settle).run_until_idle() == 1
    assert await state(store) == (JobState.DONE, None)


async def test_failure_of_the_surroundings_is_tried_again_when_due(
    store: Store, clock: ManualClock
) -> None:
    async def fail(_: Job) -> None:
        raise ProviderUnavailable

    runner = a_runner(store, clock, fail)
    assert await runner.run_until_idle() == 1
    assert await runner.run_until_idle() == 0
    assert await state(store) == (JobState.QUEUED, "PROVIDER_UNAVAILABLE")

    clock.advance(by=timedelta(seconds=2))

    assert await runner.run_until_idle() == 1


async def test_attempts_end_in_a_failed_job_that_stays(store: Store, clock: ManualClock) -> None:
    async def fail(_: Job) -> None:
        raise VersionConflict

    runner = a_runner(store, clock, fail)
    for _ in range(5):
        await runner.run_until_idle()
        clock.advance(by=timedelta(hours=1))

    [job] = await store.jobs.list("p", state=JobState.FAILED)
    assert job.attempts == 3


async def test_outage_of_a_night_loses_no_job(store: Store, clock: ManualClock) -> None:
    over = clock.now() + timedelta(hours=12)

    async def work(job: Job) -> None:
        if clock.now() < over:
            raise ProviderUnavailable
        await store.jobs.complete(job, result={}, now=clock.now())

    runner = a_runner(store, clock, work)
    while clock.now() < over + timedelta(minutes=5):
        await runner.run_until_idle()
        clock.advance(by=timedelta(minutes=1))
    await runner.run_until_idle()

    assert await state(store) == (JobState.DONE, None)


async def test_failure_of_the_content_is_final(store: Store, clock: ManualClock) -> None:
    async def fail(_: Job) -> None:
        raise InvalidAnswer

    await a_runner(store, clock, fail).run_until_idle()

    assert await state(store) == (JobState.FAILED, "INVALID_ANSWER")


async def test_fault_of_the_program_fails_the_job_and_not_the_worker(
    store: Store, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: Job) -> None:
        raise ZeroDivisionError("a secret detail")

    with caplog.at_level(logging.ERROR):
        await a_runner(store, clock, fail).run_until_idle()

    [job] = await store.jobs.list("p")
    assert (job.state, job.error_code) == (JobState.FAILED, "INTERNAL")
    assert "a secret detail" not in str(job.error)
    assert "a secret detail" in caplog.text


async def test_long_job_keeps_its_lease_by_heartbeat(store: Store, clock: ManualClock) -> None:
    async def take_long(job: Job) -> None:
        for _ in range(10):
            clock.advance(by=timedelta(seconds=20))
            for _ in range(50):
                await asyncio.sleep(0)
                [current] = await store.jobs.list("p")
                if current.lease_until and current.lease_until > clock.now() + timedelta(
                    seconds=59
                ):
                    break
        await store.jobs.complete(job, result={}, now=clock.now())

    await a_runner(store, clock, take_long).run_until_idle()

    assert await state(store) == (JobState.DONE, None)


async def test_stopping_worker_settles_what_it_has_begun(store: Store, clock: ManualClock) -> None:
    begun, finish = asyncio.Event(), asyncio.Event()

    async def wait(job: Job) -> None:
        begun.set()
        await finish.wait()
        await store.jobs.complete(job, result={}, now=clock.now())

    runner = a_runner(store, clock, wait)
    running = asyncio.create_task(runner.run())
    await begun.wait()
    runner.stop()
    finish.set()
    await running

    assert await state(store) == (JobState.DONE, None)


async def test_job_lost_to_another_worker_is_dropped_quietly(
    store: Store, clock: ManualClock
) -> None:
    async def lose(job: Job) -> None:
        clock.advance(by=timedelta(seconds=61))
        now = clock.now()
        await store.jobs.claim(
            worker="other", kinds=[JobKind.EMBED], now=now, lease_until=now + timedelta(seconds=60)
        )
        await store.jobs.complete(job, result={}, now=now)

    await a_runner(store, clock, lose).run_until_idle()

    [job] = await store.jobs.list("p")
    assert (job.state, job.lease_owner) == (JobState.RUNNING, "other")


async def pass_time(store: Store, clock: ManualClock, *, seconds: float = 2) -> None:
    """Let time pass in ten steps, and the worker take its turn at the store in between."""
    for _ in range(10):
        for _ in range(5):
            await store.jobs.counts("p")
        clock.advance(seconds)


@pytest.mark.parametrize(
    "error",
    [
        Refused("said \ud83d"),
        ZeroDivisionError("said \ud83d"),
        asyncio.CancelledError(),
        ProviderRateLimited(retry_after=1e12),
    ],
)
async def test_no_failure_of_a_job_ends_the_worker(
    store: Store, clock: ManualClock, error: BaseException
) -> None:
    failing = [error, error]

    async def work(job: Job) -> None:
        if failing:
            raise failing.pop()
        await store.jobs.complete(job, result={}, now=clock.now())

    await store.jobs.enqueue([a_job(f"more-{n}") for n in range(4)])
    runner = a_runner(store, clock, work)
    running = asyncio.create_task(runner.run())
    await pass_time(store, clock)

    assert not running.done()
    assert (await store.jobs.counts("p")).done >= 3
    runner.stop()
    await running


async def test_cancellation_from_inside_a_job_is_its_failure(
    store: Store, clock: ManualClock
) -> None:
    async def slip(_: Job) -> None:
        raise asyncio.CancelledError

    await a_runner(store, clock, slip).run_until_idle()

    assert await state(store) == (JobState.FAILED, "INTERNAL")


async def test_reason_that_holds_half_a_character_is_kept_without_it(
    store: Store, clock: ManualClock
) -> None:
    async def fail(_: Job) -> None:
        raise Refused("said \ud83d")

    await a_runner(store, clock, fail).run_until_idle()

    [job] = await store.jobs.list("p")
    assert (job.state, job.error) == (JobState.FAILED, "said ?")


async def test_job_that_cannot_be_settled_leaves_the_worker_working(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(store.jobs, "retry", fail)

    async def work(job: Job) -> None:
        if job.id == "j1":
            raise ProviderUnavailable
        await store.jobs.complete(job, result={}, now=clock.now())

    await store.jobs.enqueue([a_job("j2")])
    runner = a_runner(store, clock, work)
    running = asyncio.create_task(runner.run())
    await pass_time(store, clock)

    assert (await store.jobs.counts("p")).done == 1
    runner.stop()
    await running


async def test_heartbeat_goes_on_after_a_fault(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[datetime] = []

    async def extend(job: Job, *, lease_until: datetime) -> None:
        beats.append(lease_until)
        raise ZeroDivisionError if len(beats) == 1 else LeaseLost

    monkeypatch.setattr(store.jobs, "extend", extend)

    async def take_long(job: Job) -> None:
        await pass_time(store, clock, seconds=20)
        await store.jobs.complete(job, result={}, now=clock.now())

    await a_runner(store, clock, take_long).run_until_idle()

    assert len(beats) == 2


async def test_cancelled_worker_puts_its_job_back_for_others(
    store: Store, clock: ManualClock
) -> None:
    begun = asyncio.Event()

    async def never_end(_: Job) -> None:
        begun.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(a_runner(store, clock, never_end).run())
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert running.cancelled()
    assert await state(store) == (JobState.QUEUED, "WORKER_STOPPED")


async def test_worker_whose_cancellation_became_another_error_ends_all_the_same(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def garble(**_: object) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RuntimeError("a lock is not held") from None

    monkeypatch.setattr(store.jobs, "claim", garble)
    running = asyncio.create_task(a_runner(store, clock, _never).run())
    await asked.wait()
    running.cancel()
    async with asyncio.timeout(30):
        await asyncio.gather(running, return_exceptions=True)

    assert running.cancelled()


async def _never(_: Job) -> None:
    raise AssertionError("no job was handed out")
