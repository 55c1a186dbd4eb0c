"""Any history of a queue hands out the jobs that its rules allow, compared with a list."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.job import Job, JobCounts, JobKind
from memory_server.domain.scope import Scope
from memory_server.errors import LeaseLost
from memory_server.ports.store import Store
from tests.clock import START
from tests.factories import PROJECT, a_job

LEASE = timedelta(minutes=5)
MINUTE = timedelta(minutes=1)
KINDS = (JobKind.EXTRACT, JobKind.EMBED)
ATTEMPTS = 2
"""After how many claims a job of a dead worker is given up."""

Step = tuple[str, int, int]
"""What is done, and two numbers that choose to what."""

steps = st.lists(
    st.tuples(
        st.sampled_from(
            ("add", "add", "claim", "claim", "complete", "retry", "fail", "requeue", "wait")
        ),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=30,
)


@dataclass
class Entry:
    """A job as the list knows it."""

    job: Job
    state: str = "queued"
    due: datetime = START
    claim: tuple[str | None, int] = (None, 0)
    """Who claimed it last, and at which attempt."""
    lost: int = 0
    """Leases before this one that expired in a row."""


@dataclass
class Queue:
    """The rules of the port, the slow way."""

    now: datetime = START
    entries: list[Entry] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    """Users in the order of their claims; the last mention counts."""
    held: list[Job] = field(default_factory=list)
    """Claims that were handed out and not settled, stale ones too."""

    def allowed(self) -> list[Entry]:
        """Return the jobs of which one may be handed out now."""
        ready = [one for one in self.entries if self._is_ready(one)]
        if not ready:
            return []
        longest_ago = min(self._served(one) for one in ready)
        return [one for one in ready if self._served(one) == longest_ago]

    def give_up(self) -> None:
        """Fail what was handed out often enough and not heard of again."""
        for one in self.entries:
            if one.state == "running" and one.due <= self.now and one.lost + 1 >= ATTEMPTS:
                one.state = "failed"

    def entry(self, job_id: str) -> Entry:
        """Return a job by its id."""
        return next(one for one in self.entries if one.job.id == job_id)

    def _served(self, entry: Entry) -> int:
        user = entry.job.user_id or ""
        return max((n for n, one in enumerate(self.served) if one == user), default=-1)

    def _is_ready(self, entry: Entry) -> bool:
        if entry.state not in ("queued", "running") or entry.due > self.now:
            return False
        others = [one for one in self._line(entry) if one is not entry]
        older = any(self._age(one) < self._age(entry) for one in others)
        return not older and not any(
            one.state == "running" and one.due > self.now for one in others
        )

    def _line(self, entry: Entry) -> Sequence[Entry]:
        if entry.job.user_id is None or entry.job.kind is JobKind.EMBED:
            return [entry]
        return [
            one
            for one in self.entries
            if one.state in ("queued", "running")
            and one.job.kind is entry.job.kind
            and (one.job.user_id, one.job.payload) == (entry.job.user_id, entry.job.payload)
        ]

    def _age(self, entry: Entry) -> tuple[datetime, int]:
        return entry.job.created_at, self.entries.index(entry)


class JobOrderContract:
    """A subclass provides the fixture `store`, open and empty."""

    @settings(
        max_examples=60,
        deadline=None,
        # Every example begins with an empty project in the same store.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(steps)
    async def test_any_history_keeps_to_the_rules(self, store: Store, history: list[Step]) -> None:
        await store.erase(Scope(project_id=PROJECT))
        queue = Queue()
        for action, one, other in history:
            await getattr(self, f"_{action}")(store, queue, one, other)
            await self._compare(store, queue)
        await self._drain(store, queue)

    async def _add(self, store: Store, queue: Queue, one: int, other: int) -> None:
        job = a_job(
            user_id=(None, "ana", "bob", "cem")[one % 4],
            kind=KINDS[other == 5],
            payload={"type": ("semantic", "episodic")[other % 2]},
            created_at=queue.now - MINUTE * (other // 2),
            due_at=queue.now,
        )
        assert await store.jobs.enqueue([job]) == 1
        queue.entries.append(Entry(job, due=queue.now))

    async def _claim(self, store: Store, queue: Queue, one: int, _: int) -> None:
        job = await store.jobs.claim(
            worker=f"w{one}",
            kinds=KINDS,
            now=queue.now,
            lease_until=queue.now + LEASE,
            max_attempts=ATTEMPTS,
        )
        queue.give_up()
        allowed = {entry.job.id for entry in queue.allowed()}
        assert (job.id in allowed) if job else not allowed
        if job is not None:
            entry = queue.entry(job.id)
            entry.lost = entry.lost + 1 if entry.state == "running" else 0
            entry.state, entry.due = "running", queue.now + LEASE
            entry.claim = (job.lease_owner, job.attempts)
            queue.served.append(job.user_id or "")
            queue.held.append(job)

    async def _complete(self, store: Store, queue: Queue, one: int, _: int) -> None:
        await self._settle(store, queue, one, "done")

    async def _fail(self, store: Store, queue: Queue, one: int, _: int) -> None:
        await self._settle(store, queue, one, "failed")

    async def _retry(self, store: Store, queue: Queue, one: int, other: int) -> None:
        await self._settle(store, queue, one, "queued", due=queue.now + MINUTE * other)

    async def _requeue(self, store: Store, queue: Queue, one: int, _: int) -> None:
        failed = [entry for entry in queue.entries if entry.state == "failed"]
        if failed:
            entry = failed[one % len(failed)]
            await store.jobs.requeue(PROJECT, entry.job.id, due_at=queue.now)
            entry.state, entry.due = "queued", queue.now

    async def _wait(self, _: Store, queue: Queue, one: int, __: int) -> None:
        queue.now += MINUTE * one

    async def _settle(
        self, store: Store, queue: Queue, one: int, state: str, due: datetime = START
    ) -> None:
        if not queue.held:
            return
        job = queue.held.pop(one % len(queue.held))
        entry = queue.entry(job.id)
        valid = entry.state == "running" and entry.claim == (job.lease_owner, job.attempts)
        try:
            if state == "done":
                await store.jobs.complete(job, result={}, now=queue.now)
            elif state == "failed":
                await store.jobs.fail(job, code="C", reason="r", now=queue.now)
            else:
                await store.jobs.retry(job, due_at=due, code="C", reason="r")
        except LeaseLost:
            assert not valid
            return
        assert valid
        entry.state, entry.due = state, due

    async def _compare(self, store: Store, queue: Queue) -> None:
        """Count the jobs, which may be counted as they come and go."""
        states = [entry.state for entry in queue.entries]
        waiting = [one.job.created_at for one in queue.entries if one.state == "queued"]
        assert await store.jobs.counts(PROJECT) == JobCounts(
            queued=states.count("queued"),
            running=states.count("running"),
            failed=states.count("failed"),
            done=states.count("done"),
            oldest_queued_at=min(waiting, default=None),
        )

    async def _drain(self, store: Store, queue: Queue) -> None:
        """Do all that is left: whatever happened before, nothing stays behind."""
        queue.now += LEASE * 10
        for _ in range(2 * len(queue.entries)):
            await self._claim(store, queue, 0, 0)
            if queue.held:
                queue.held = queue.held[-1:]
                await self._settle(store, queue, 0, "done")
        assert {entry.state for entry in queue.entries} <= {"done", "failed"}
        left = await store.jobs.counts()
        assert (left.queued, left.running) == (0, 0)
