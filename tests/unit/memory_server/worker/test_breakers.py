"""Providers that keep failing and budgets that are spent, as the worker meets them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from memory_server.domain.circuit import FAILURES
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import (
    BudgetSpent,
    KeyRejected,
    MemoryServerError,
    ProviderUnavailable,
)
from memory_server.ports.store import Store
from memory_server.providers.breaker import ProviderBreaker
from memory_server.storage.sqlite.store import SqliteStore
from memory_server.worker.runner import LOOKS_AGAIN, Runner
from tests.clock import START, ManualClock
from tests.unit.memory_server.worker.test_runner import a_job, a_runner


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[Store]:
    store = SqliteStore(None, clock=clock)
    await store.open()
    await store.jobs.enqueue([a_job("j1")])
    yield store
    await store.close()


class Provider:
    """Fails until it is back, and notes which jobs called it."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store, self.clock = store, clock
        self.failure: MemoryServerError | None = ProviderUnavailable("away")
        self.calls: list[str] = []
        self.breaker = ProviderBreaker(
            purpose="extraction", provider="some", clock=clock, policy=RetryPolicy()
        )

    async def work(self, job: Job) -> None:
        self.calls.append(job.id)
        await asyncio.sleep(0)
        if self.failure is not None:
            self.breaker.failed(self.failure)
            raise self.failure
        self.breaker.worked()
        await self.store.jobs.complete(job, result={}, now=self.clock.now())

    def runner(self, *, slots: int = 2) -> Runner:
        """Work off what needs it, embedding, and what needs nobody, re-embedding."""
        return Runner(
            jobs=self.store.jobs,
            handlers={JobKind.EMBED: self.work, JobKind.REEMBED: self._settle},
            clock=self.clock,
            worker="w",
            retry=RetryPolicy(),
            breakers={JobKind.EMBED: self.breaker},
            slots=slots,
        )

    async def _settle(self, job: Job) -> None:
        await self.store.jobs.complete(job, result={}, now=self.clock.now())


@pytest.fixture
async def provider(store: Store, clock: ManualClock) -> Provider:
    await store.jobs.enqueue([a_job(f"j{number}") for number in range(2, 31)])
    return Provider(store, clock)


async def attempts(store: Store) -> int:
    return sum(job.attempts for job in await store.jobs.list("p"))


async def test_jobs_of_a_provider_that_keeps_failing_are_not_tried(
    store: Store, provider: Provider
) -> None:
    await provider.runner().run_until_idle()

    assert len(provider.calls) == FAILURES
    assert await attempts(store) == FAILURES
    assert (await store.jobs.counts()).queued == 30


async def test_work_that_needs_nobody_goes_on_meanwhile(store: Store, provider: Provider) -> None:
    await provider.runner().run_until_idle()
    await store.jobs.enqueue([replace(a_job("own"), kind=JobKind.REEMBED)])

    assert await provider.runner().run_until_idle() == 1


async def test_one_job_alone_finds_out_whether_the_provider_is_back(
    store: Store, clock: ManualClock, provider: Provider
) -> None:
    await provider.runner().run_until_idle()
    clock.advance(2)
    runner = provider.runner(slots=4)
    running = asyncio.create_task(runner.run())
    await settled(clock, sleepers=4)
    assert len(provider.calls) == FAILURES + 1

    provider.failure = None
    clock.advance(4)
    while (await store.jobs.counts()).done < 30:
        clock.advance(1)
        await asyncio.sleep(0.001)
    runner.stop()
    await running

    assert (await store.jobs.counts()).failed == 0


async def test_a_probe_that_finds_no_job_leaves_its_place_to_the_next(
    store: Store, clock: ManualClock
) -> None:
    provider = Provider(store, clock)
    for _ in range(FAILURES):
        provider.breaker.failed(ProviderUnavailable("away"))
    await store.jobs.complete(await _claimed(store), result={}, now=clock.now())
    clock.advance(2)

    assert await provider.runner().run_until_idle() == 0
    await store.jobs.enqueue([a_job("late")])
    provider.failure = None

    assert await provider.runner().run_until_idle() == 1


async def test_a_rejected_key_is_tried_once_and_not_by_every_job(
    store: Store, clock: ManualClock, provider: Provider
) -> None:
    provider.failure = KeyRejected("bad key")
    for _ in range(60):
        await provider.runner().run_until_idle()
        clock.advance(by=timedelta(minutes=1))

    assert len(provider.calls) <= 6


@pytest.mark.parametrize(
    ("until", "waits"),
    [(timedelta(hours=1), LOOKS_AGAIN), (timedelta(minutes=1), timedelta(minutes=1))],
    ids=["looks again before the hour is over", "no longer than the hour"],
)
async def test_job_whose_budget_is_spent_waits_without_an_attempt(
    store: Store, clock: ManualClock, until: timedelta, waits: timedelta
) -> None:
    later = clock.now() + until

    async def refuse(_: Job) -> None:
        raise BudgetSpent("budget of 1 calls an hour is spent", until=later)

    await a_runner(store, clock, refuse).run_until_idle()

    [job] = await store.jobs.list("p")
    assert (job.state, job.attempts, job.due_at) == (JobState.QUEUED, 0, clock.now() + waits)
    assert (job.error_code, job.error) == ("BUDGET_SPENT", "budget of 1 calls an hour is spent")


async def _claimed(store: Store) -> Job:
    job = await store.jobs.claim(
        worker="w", kinds=[JobKind.EMBED], now=START, lease_until=START + timedelta(minutes=1)
    )
    assert job is not None
    return job


async def settled(clock: ManualClock, *, sleepers: int) -> None:
    """Return once so many wait for the clock: every slot rests."""
    while True:
        if clock.sleepers >= sleepers:
            return
        await asyncio.sleep(0.001)
