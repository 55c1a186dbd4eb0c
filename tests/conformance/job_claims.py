"""What every `Jobs` promises of handing out. Each store's test module runs the whole class."""

import asyncio
from datetime import timedelta

import pytest

from memory_server.domain.job import JobKind, JobState
from memory_server.errors import LeaseLost
from memory_server.ports.store import Store
from tests.clock import START
from tests.conformance.jobs import EXPIRED, LEASE, claim, claimed, the
from tests.factories import PROJECT, a_job


class JobClaimsContract:
    """A subclass provides the fixture `store`, open and empty."""

    async def test_a_claim_counts_the_attempt_and_takes_the_lease(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])

        job = await claimed(store, worker="w1")

        assert (job.state, job.attempts) == (JobState.RUNNING, 1)
        assert (job.lease_owner, job.lease_until) == ("w1", EXPIRED)
        assert await the(store, job) == job

    async def test_nothing_is_handed_out_when_nothing_waits(self, store: Store) -> None:
        assert await claim(store) is None

    async def test_a_job_is_not_handed_out_before_it_is_due(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(due_at=START + LEASE)])

        assert await claim(store) is None
        assert await claim(store, now=START + LEASE) is not None

    async def test_only_the_kinds_asked_for_are_handed_out(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(kind=JobKind.EXTRACT)])

        assert await claim(store, kinds=[JobKind.EMBED]) is None
        assert await claim(store, kinds=[]) is None

    async def test_concurrent_workers_never_get_the_same_job(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(user_id=f"user {number}") for number in range(10)])

        jobs = await asyncio.gather(*(claim(store, worker=f"w{n}") for n in range(15)))

        ids = [job.id for job in jobs if job is not None]
        assert len(ids) == len(set(ids)) == 10

    async def test_a_running_job_is_not_handed_out_again(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        await claimed(store)

        assert await claim(store, now=EXPIRED - timedelta(microseconds=1)) is None

    async def test_expired_lease_is_claimable_again(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        await claimed(store, worker="dead")

        job = await claimed(store, worker="w2", now=EXPIRED)

        assert (job.lease_owner, job.attempts) == ("w2", 2)

    async def test_a_job_is_not_handed_out_for_ever_when_its_workers_die(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([job := a_job()])
        for attempt in range(3):
            assert await claim(store, now=START + LEASE * attempt, max_attempts=3)

        assert await claim(store, now=START + LEASE * 3, max_attempts=3) is None

        failed = await the(store, job)
        assert (failed.state, failed.error_code) == (JobState.FAILED, "WORKER_DIED")
        assert (failed.attempts, failed.finished_at) == (3, START + LEASE * 3)
        assert (failed.lease_owner, failed.lease_until) == (None, None)
        assert "3 times" in str(failed.error)

    async def test_eight_workers_may_die_of_a_job(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])

        claims = [await claim(store, now=START + LEASE * n) for n in range(10)]

        assert [job is not None for job in claims] == [True] * 8 + [False] * 2

    async def test_a_job_given_up_does_not_hold_up_the_next_one(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), second := a_job()])
        await claimed(store)

        assert (await claimed(store, now=EXPIRED, max_attempts=1)).id == second.id

    async def test_a_job_at_its_last_attempt_is_not_given_up_while_it_runs(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store, max_attempts=1)

        just_before = EXPIRED - timedelta(microseconds=1)
        assert await claim(store, now=just_before, max_attempts=1) is None

        await store.jobs.complete(job, result={}, now=just_before)

    async def test_a_job_put_back_at_its_last_attempt_is_its_workers_to_judge(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job()])
        job = await claimed(store)
        await store.jobs.retry(job, due_at=START, code="C", reason="r")

        assert (await claimed(store, max_attempts=1)).attempts == 2

    async def test_attempts_that_were_put_back_do_not_count_as_deaths(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        for _ in range(9):
            await store.jobs.retry(await claimed(store), due_at=START, code="C", reason="r")
        await claimed(store)

        assert (await claimed(store, now=EXPIRED, max_attempts=2)).attempts == 11
        assert await claim(store, now=EXPIRED + LEASE, max_attempts=2) is None

    async def test_deaths_are_counted_in_a_row(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        await claimed(store)
        again = await claimed(store, now=EXPIRED)
        await store.jobs.retry(again, due_at=EXPIRED, code="C", reason="r")
        await claimed(store, now=EXPIRED)

        assert await claim(store, now=EXPIRED + LEASE, max_attempts=2) is not None

    async def test_jobs_of_other_kinds_are_not_given_up(self, store: Store) -> None:
        await store.jobs.enqueue([job := a_job()])
        await claimed(store)

        await claim(store, kinds=[JobKind.EMBED], now=EXPIRED, max_attempts=1)

        assert (await the(store, job)).state is JobState.RUNNING

    async def test_what_was_given_up_is_too_late_for_its_worker(self, store: Store) -> None:
        await store.jobs.enqueue([a_job()])
        stale = await claimed(store)
        await claim(store, now=EXPIRED, max_attempts=1)

        with pytest.raises(LeaseLost):
            await store.jobs.complete(stale, result={}, now=EXPIRED)

    async def test_the_user_served_longest_ago_comes_first(self, store: Store) -> None:
        jobs = [a_job(user_id=user) for user in ("ana", "ana", "ana", "bob", "cem")]
        await store.jobs.enqueue(jobs)

        order = []
        for _ in jobs:
            job = await claimed(store)
            order.append(job.user_id)
            await store.jobs.complete(job, result={}, now=START)

        assert order == ["ana", "bob", "cem", "ana", "ana"]

    async def test_a_users_job_that_is_tried_again_waits_for_its_turn(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job(user_id="bob")])
        first = await claimed(store)
        await store.jobs.retry(first, due_at=START, code="C", reason="r")

        assert (await claimed(store)).user_id == "bob"

    async def test_users_of_two_projects_with_one_name_are_two(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job(project_id="bank")])
        await claimed(store)

        assert (await claimed(store)).project_id == "bank"

    async def test_jobs_of_one_user_and_type_come_one_after_the_other(self, store: Store) -> None:
        first, second = a_job(), a_job()
        await store.jobs.enqueue([first, second])

        running = await claimed(store)
        assert running.id == first.id
        assert await claim(store) is None

        await store.jobs.complete(running, result={}, now=START)
        assert (await claimed(store)).id == second.id

    async def test_the_oldest_comes_first_in_whatever_order_they_were_queued(
        self, store: Store
    ) -> None:
        newer, older = a_job(created_at=START + LEASE), a_job()
        await store.jobs.enqueue([newer, older])

        assert (await claimed(store)).id == older.id

    async def test_types_of_one_user_do_not_wait_for_each_other(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job(payload={"type": "episodic"})])
        await claimed(store)

        assert (await claimed(store)).payload["type"] == "episodic"

    async def test_kinds_of_one_user_do_not_wait_for_each_other(self, store: Store) -> None:
        """Nor does one that is to be tried again hold up the other kind."""
        await store.jobs.enqueue([embed := a_job(kind=JobKind.EMBED)])
        await store.jobs.retry(await claimed(store), due_at=EXPIRED, code="C", reason="r")
        await store.jobs.enqueue([extract := a_job(created_at=EXPIRED)])

        assert (await claimed(store)).id == extract.id
        assert (await claimed(store, now=EXPIRED)).id == embed.id

    async def test_embedding_jobs_of_one_user_are_each_on_their_own(self, store: Store) -> None:
        jobs = [a_job(kind=JobKind.EMBED) for _ in range(3)]
        await store.jobs.enqueue(jobs)
        await store.jobs.retry(await claimed(store), due_at=EXPIRED, code="C", reason="r")

        ids = {(await claimed(store)).id for _ in range(2)}

        assert len(ids) == 2
        assert await claim(store) is None

    async def test_a_younger_job_waits_while_the_oldest_is_to_be_tried_again(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job(), a_job()])
        job = await claimed(store)
        await store.jobs.retry(job, due_at=EXPIRED, code="C", reason="r")

        assert await claim(store) is None
        assert (await claimed(store, now=EXPIRED)).id == job.id

    async def test_a_failed_job_does_not_hold_up_the_next_one(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(), a_job()])
        await store.jobs.fail(await claimed(store), code="C", reason="r", now=START)

        assert await claim(store) is not None

    async def test_an_older_job_queued_again_waits_for_the_one_that_runs(
        self, store: Store
    ) -> None:
        await store.jobs.enqueue([a_job(), a_job()])
        older = await claimed(store)
        await store.jobs.fail(older, code="C", reason="r", now=START)
        await claimed(store)

        await store.jobs.requeue(PROJECT, older.id, due_at=START)

        assert await claim(store) is None

    async def test_jobs_with_no_user_are_each_on_their_own(self, store: Store) -> None:
        await store.jobs.enqueue([a_job(user_id=None), a_job(user_id=None)])

        assert (await claimed(store)).id != (await claimed(store)).id

    async def test_nobody_is_not_a_user_with_an_empty_name(self, store: Store) -> None:
        users = [None, None, ""]
        await store.jobs.enqueue([a_job(user_id=user) for user in users])

        served = [(await claimed(store)).user_id for _ in users]

        assert served == [None, "", None]
