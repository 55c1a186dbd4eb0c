"""What every `Jobs` promises. Each store's test module runs the whole class."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from memory_server.domain.job import Job, JobCounts, JobKind, JobState
from memory_server.errors import JobNotFound, LeaseLost
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, a_job, a_scope

LEASE = timedelta(minutes=1)
EXPIRED = START + LEASE
BOTH = (JobKind.EXTRACT, JobKind.EMBED)

Settle = Callable[[Store, Job], Awaitable[None]]

SETTLING: dict[str, Settle] = {
    "extend": lambda s, job: s.jobs.extend(job, lease_until=EXPIRED + LEASE),
    "save_progress": lambda s, job: s.jobs.save_progress(job, {"step": 1}),
    "complete": lambda s, job: s.jobs.complete(job, result={}, now=START),
    "retry": lambda s, job: s.jobs.retry(job, due_at=START, code="C", reason="r"),
    "defer": lambda s, job: s.jobs.defer(job, due_at=START, code="C", reason="r"),
    "fail": lambda s, job: s.jobs.fail(job, code="C", reason="r", now=START),
    "settling memories": lambda s, job: s.memories.apply(PROJECT, [], settling=job),
}
"""Every call that needs the job's lease."""


async def claim(store: Store, *, worker: str = "w", now: Any = START, **given: Any) -> Job | None:
    """Claim one job for a minute."""
    kinds = given.get("kinds", BOTH)
    attempts = {"max_attempts": given["max_attempts"]} if "max_attempts" in given else {}
    return await store.jobs.claim(
        worker=worker, kinds=kinds, now=now, lease_until=now + LEASE, **attempts
    )


async def claimed(store: Store, **given: Any) -> Job:
    """Claim one job; there must be one."""
    job = await claim(store, **given)
    assert job is not None, "no job was handed out"
    return job


async def the(store: Store, job: Job) -> Job:
    """Return a job as it is stored now."""
    (found,) = [one for one in await store.jobs.list(job.project_id) if one.id == job.id]
    return found


class JobsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_job_comes_back_as_it_was_queued(self, store: Store) -> None:
        job = a_job(payload={"type": "semantic", "turns": ["a", 1, None]}, progress={"step": 0})

        assert await store.jobs.enqueue([job]) == 1

        assert await store.jobs.list(PROJECT) == [job]

    async def test_a_deferred_job_waits_and_its_attempt_does_not_count(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)

        await store.jobs.defer(job, due_at=EXPIRED, code="BUDGET_SPENT", reason="later")

        waiting = await the(store, job)
        assert (waiting.state, waiting.attempts) == (JobState.QUEUED, 0)
        assert (waiting.error_code, waiting.error) == ("BUDGET_SPENT", "later")
        assert await claim(store) is None
        assert (await claimed(store, now=EXPIRED)).attempts == 1

    async def test_a_deferred_job_keeps_the_attempts_before(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        await store.jobs.retry(await claimed(store), due_at=START, code="C", reason="r")
        await store.jobs.defer(await claimed(store), due_at=START, code="C", reason="r")

        assert (await claimed(store)).attempts == 2

    async def test_the_same_work_is_queued_once(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(key="k")])

        assert await store.jobs.enqueue([a_job(key="k"), a_job(key="k2")]) == 1

    async def test_finished_work_is_not_queued_again(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(key="k")])
        await store.jobs.complete(await claimed(store), result={}, now=START)

        assert await store.jobs.enqueue([a_job(key="k")]) == 0

    async def test_keys_are_counted_in_each_project(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(key="k")])

        assert await store.jobs.enqueue([a_job(key="k", project_id="bank")]) == 1

    @pytest.mark.parametrize("settle", SETTLING.values(), ids=SETTLING)
    async def test_a_lease_taken_over_by_another_worker_is_lost(
        self, store: Store, settle: Settle
    ) -> None:
        await store.jobs.enqueue([a_job()])
        stale = await claimed(store, worker="w1")
        await claimed(store, worker="w2", now=EXPIRED)

        with pytest.raises(LeaseLost):
            await settle(store, stale)

    @pytest.mark.parametrize("settle", SETTLING.values(), ids=SETTLING)
    async def test_a_former_claim_of_the_same_worker_is_lost(
        self, store: Store, settle: Settle
    ) -> None:
        await store.jobs.enqueue([a_job()])
        stale = await claimed(store)
        await claimed(store, now=EXPIRED)

        with pytest.raises(LeaseLost):
            await settle(store, stale)

    @pytest.mark.parametrize("settle", SETTLING.values(), ids=SETTLING)
    async def test_a_settled_job_cannot_be_settled_again(
        self, store: Store, settle: Settle
    ) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)
        await store.jobs.complete(job, result={"kept": True}, now=START)

        with pytest.raises(LeaseLost):
            await settle(store, job)

        assert (await the(store, job)).result == {"kept": True}

    @pytest.mark.parametrize("settle", SETTLING.values(), ids=SETTLING)
    async def test_a_job_that_was_never_claimed_cannot_be_settled(
        self, store: Store, settle: Settle
    ) -> None:
        job = a_job()
        await store.jobs.enqueue([job])

        with pytest.raises(LeaseLost):
            await settle(store, job)

    async def test_a_lease_that_expired_but_was_not_taken_can_still_be_settled(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)

        await store.jobs.complete(job, result={}, now=EXPIRED + LEASE)

        assert (await the(store, job)).state is JobState.DONE

    async def test_an_extended_lease_keeps_the_job(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)

        await store.jobs.extend(job, lease_until=EXPIRED + LEASE)

        assert await claim(store, now=EXPIRED) is None

    async def test_progress_survives_to_the_next_attempt(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)
        await store.jobs.save_progress(job, {"answer": {"paid": "for"}})
        await store.jobs.retry(job, due_at=START, code="C", reason="r")

        again = await claimed(store)

        assert again.progress == {"answer": {"paid": "for"}}
        assert again.attempts == 2

    async def test_a_done_job_keeps_its_result_and_time(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)

        await store.jobs.complete(job, result={"added": 2}, now=EXPIRED)

        done = await the(store, job)
        assert (done.state, done.result) == (JobState.DONE, {"added": 2})
        assert (done.finished_at, done.lease_owner, done.error) == (EXPIRED, None, None)

    async def test_a_job_put_back_keeps_the_reason(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)

        await store.jobs.retry(job, due_at=EXPIRED, code="RATE_LIMITED", reason="later")

        back = await the(store, job)
        assert (back.state, back.due_at, back.lease_owner) == (JobState.QUEUED, EXPIRED, None)
        assert (back.error_code, back.error) == ("RATE_LIMITED", "later")

    async def test_a_failed_job_keeps_the_reason_and_is_not_handed_out(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)

        await store.jobs.fail(job, code="MODEL_REFUSED", reason="no", now=START)

        failed = await the(store, job)
        assert (failed.state, failed.error_code, failed.error) == (
            JobState.FAILED,
            "MODEL_REFUSED",
            "no",
        )
        assert await claim(store, now=EXPIRED) is None

    async def test_a_failed_job_can_be_queued_again_with_its_attempts_forgotten(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)
        await store.jobs.fail(job, code="C", reason="r", now=START)

        queued = await store.jobs.requeue(PROJECT, job.id, due_at=EXPIRED)

        assert (queued.state, queued.attempts, queued.due_at) == (JobState.QUEUED, 0, EXPIRED)
        assert queued.finished_at is None
        assert (await claimed(store, now=EXPIRED)).attempts == 1

    async def test_only_a_failed_job_can_be_queued_again(self, store: Store) -> None:
        job = a_job()
        await store.jobs.enqueue([job])

        for job_id in (job.id, "unknown"):
            with pytest.raises(JobNotFound):
                await store.jobs.requeue(PROJECT, job_id, due_at=START)

    async def test_jobs_are_listed_the_newest_first(self, store: Store) -> None:
        jobs = [a_job(created_at=START + timedelta(seconds=n)) for n in (1, 2, 0)]
        await store.jobs.enqueue(jobs)

        listed = await store.jobs.list(PROJECT, limit=2)

        assert [job.id for job in listed] == [jobs[1].id, jobs[0].id]

    async def test_jobs_are_listed_by_state(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job()])
        running = await claimed(store)

        assert await store.jobs.list(PROJECT, state=JobState.RUNNING) == [running]
        assert await store.jobs.list(PROJECT, state=JobState.DONE) == []

    async def test_jobs_are_listed_by_user(self, store: Store) -> None:
        bob = a_job(user_id="bob")
        await store.jobs.enqueue([a_job(), bob, a_job(project_id="bank", user_id="bob")])

        assert await store.jobs.list(PROJECT, user_id="bob") == [bob]
        assert await store.jobs.list(PROJECT, user_id="bob", state=JobState.QUEUED) == [bob]
        assert await store.jobs.list(PROJECT, user_id="bob", state=JobState.DONE) == []
        assert await store.jobs.list(PROJECT, user_id="nobody") == []

    async def test_jobs_are_counted_by_state(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(user_id=f"user {n}") for n in range(4)])
        await store.jobs.enqueue([a_job(project_id="bank", user_id="zoe")])
        await store.jobs.complete(await claimed(store), result={}, now=START)
        await store.jobs.fail(await claimed(store), code="C", reason="r", now=START)
        await claimed(store)

        mine, all_of_them = await store.jobs.counts(PROJECT), await store.jobs.counts()

        assert (mine.queued, mine.running, mine.failed, mine.done) == (1, 1, 1, 1)
        assert mine.oldest_queued_at == START
        assert all_of_them.queued == 2

    async def test_erased_and_expired_jobs_count_no_more(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job(user_id="bob"), a_job(user_id="cem")])
        await store.jobs.complete(await claimed(store), result={}, now=START)

        await store.snapshots.expire(before=EXPIRED, limit=9)
        await store.erase(a_scope(user_id="bob"))

        assert await store.jobs.counts() == JobCounts(
            queued=1, running=0, failed=0, done=0, oldest_queued_at=START
        )

    async def test_all_failed_jobs_of_a_project_are_queued_again_and_no_others(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job(), a_job(user_id="bob"), a_job(project_id="bank")])
        for _ in range(3):
            await store.jobs.fail(await claimed(store), code="C", reason="r", now=START)

        again = await store.jobs.requeue_failed(PROJECT, due_at=EXPIRED)

        found = await store.jobs.list(PROJECT, state=JobState.QUEUED)
        assert again == len(found) == 2
        assert {(job.attempts, job.error_code, job.due_at) for job in found} == {(0, None, EXPIRED)}
        assert (await store.jobs.counts()).failed == 1

    async def test_no_jobs_count_as_none(self, store: Store) -> None:
        counts = await store.jobs.counts(PROJECT)

        assert (counts.queued, counts.oldest_queued_at) == (0, None)
