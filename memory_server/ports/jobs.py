"""The queue of background work, kept in the store."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from memory_server.domain.job import Job, JobCounts, JobKind, JobState


class Jobs(Protocol):
    """Hands out work, once, and remembers how it ended."""

    @abstractmethod
    async def enqueue(self, jobs: Sequence[Job]) -> int:
        """Queue the jobs whose (project, key) is not known yet; return how many were new."""
        ...

    @abstractmethod
    async def claim(
        self,
        *,
        worker: str,
        kinds: Sequence[JobKind],
        now: datetime,
        lease_until: datetime,
        max_attempts: int = 8,
    ) -> Job | None:
        """Give the worker one job that is due, or whose lease has expired, and count the attempt.

        Fair: the user whose last claimed job lies furthest back comes first. Orderly: of one
        (project, user), one kind and one payload `type`, only the oldest unfinished job is
        handed out, and none while another of them runs. EMBED and CONTEXT jobs, and jobs with no
        user, are each on their own: they wait for none and hold up none.

        A job whose lease has expired `max_attempts` times in a row is not handed out again: it
        is settled as failed with the code `WORKER_DIED`. Attempts that a worker put back do not
        count: how often those are made is for the worker to decide.
        """
        ...

    @abstractmethod
    async def extend(self, job: Job, *, lease_until: datetime) -> None:
        """Prolong a claimed job's lease, or raise `LeaseLost`."""
        ...

    @abstractmethod
    async def save_progress(self, job: Job, progress: Mapping[str, Any]) -> None:
        """Keep what is done already with a claimed job, or raise `LeaseLost`."""
        ...

    @abstractmethod
    async def complete(self, job: Job, *, result: Mapping[str, Any], now: datetime) -> None:
        """Settle a claimed job as done, or raise `LeaseLost`."""
        ...

    @abstractmethod
    async def retry(self, job: Job, *, due_at: datetime, code: str, reason: str) -> None:
        """Put a claimed job back to be tried again, or raise `LeaseLost`."""
        ...

    @abstractmethod
    async def defer(self, job: Job, *, due_at: datetime, code: str, reason: str) -> None:
        """Put a claimed job back that was not tried: its attempt does not count.

        Raises `LeaseLost`.
        """
        ...

    @abstractmethod
    async def fail(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        """Settle a claimed job as failed, to be retried by command, or raise `LeaseLost`."""
        ...

    @abstractmethod
    async def requeue(self, project_id: str, job_id: str, *, due_at: datetime) -> Job:
        """Queue a failed job again with its attempts forgotten, or raise `JobNotFound`."""
        ...

    @abstractmethod
    async def requeue_failed(self, project_id: str, *, due_at: datetime) -> int:
        """Queue every failed job again with its attempts forgotten; return how many there were."""
        ...

    @abstractmethod
    async def list(
        self,
        project_id: str,
        *,
        state: JobState | None = None,
        user_id: str | None = None,
        limit: int = 100,
    ) -> Sequence[Job]:
        """Return jobs, in a state and of a user if they are named, the newest first."""
        ...

    @abstractmethod
    async def counts(self, project_id: str | None = None) -> JobCounts:
        """Count jobs by state, of one project or of all."""
        ...
