import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import InvalidAnswer, ProviderUnavailable
from memory_server.ports.store import Store
from memory_server.storage.sqlite.store import SqliteStore
from memory_server.worker.runner import Runner
from tests.clock import START, ManualClock

Handler = Callable[[Job], Awaitable[None]]


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[Store]:
    store = SqliteStore(None, clock=clock)
    await store.open()
    await store.jobs.enqueue(
        [
            Job(
                id="j1",
                project_id="p",
                kind=JobKind.EMBED,
                key="k1",
                payload={},
                created_at=START,
                due_at=START,
            )
        ]
    )
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
        raise ProviderUnavailable

    runner = a_runner(store, clock, fail)
    for _ in range(5):
        await runner.run_until_idle()
        clock.advance(by=timedelta(hours=1))

    [job] = await store.jobs.list("p", state=JobState.FAILED)
    assert job.attempts == 3


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
