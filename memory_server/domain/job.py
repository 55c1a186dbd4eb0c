"""Background work that survives its worker."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from memory_server.domain.spending import Usage


class JobKind(StrEnum):
    """What is to be done."""

    EXTRACT = "extract"
    """Extract one memory type from one snapshot, and reconcile."""
    EMBED = "embed"
    """Give vectors to memories or turns that could not be embedded when written."""
    CONTEXT = "context"
    """Make the summary and contexts of an exchange's blocks."""
    REEMBED = "reembed"
    """Give everything that has a vector one of another model."""


class JobState(StrEnum):
    """Where a job stands. `done` and `failed` are terminal; `failed` can be retried by command."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One unit of background work."""

    id: str
    project_id: str
    kind: JobKind
    key: str
    """Unique per project: the same work is never queued twice."""
    payload: Mapping[str, Any]
    created_at: datetime
    due_at: datetime
    user_id: str | None = None
    """Whom the work is for; workers are fair between users and keep each user's order."""
    state: JobState = JobState.QUEUED
    attempts: int = 0
    """Claims so far."""
    lease_owner: str | None = None
    lease_until: datetime | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    """What is done already, kept across attempts: a model's answer is paid for once."""
    result: Mapping[str, Any] = field(default_factory=dict)
    error_code: str | None = None
    error: str | None = None
    finished_at: datetime | None = None


def resting(job: Job) -> Job:
    """Return a job as it is without the worker that has it: one that runs waits."""
    if job.state is not JobState.RUNNING:
        return job
    return replace(job, state=JobState.QUEUED, lease_owner=None, lease_until=None)


_FAILED = "failed"
"""Where a job's progress keeps what its failed attempts took, and what was answered last."""


def failed_attempt(job: Job, details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the progress of a job after one more failed attempt, from the error's details.

    They may tell the `calls`, `input_tokens` and `output_tokens` that it took of a model, and
    the `raw` answer that could not be used.
    """
    raw = {"raw": details["raw"]} if details.get("raw") else {}
    taken = asdict(usage_before(job) + Usage.of(details))
    return {**job.progress, _FAILED: {**taken, **raw}}


def usage_before(job: Job) -> Usage:
    """Return what the failed attempts of a job took of a model."""
    return Usage.of(job.progress.get(_FAILED, {}))


def is_answered(job: Job) -> bool:
    """Whether a model's answer is kept with a job, so that what is left to do calls nobody."""
    return not job.progress.keys() <= {_FAILED}


def outcome(job: Job) -> Mapping[str, Any]:
    """Return what came of a job so far: its result, or what is left of its failed attempts."""
    return {**job.result} or {**job.progress.get(_FAILED, {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How much work there is."""

    queued: int
    running: int
    failed: int
    done: int
    oldest_queued_at: datetime | None = None


def job_owner(user_id: str | None) -> str:
    """Return what stands for a user, or for none, where jobs wait their turn."""
    return "nobody" if user_id is None else f"user {user_id}"


def is_alone(job: Job) -> bool:
    """Whether a job waits for no other and holds up none."""
    return job.user_id is None or job.kind in (JobKind.EMBED, JobKind.CONTEXT)


def job_queue(job: Job) -> str:
    """Return what names the jobs that wait for each other: one alone, or those of one type."""
    if is_alone(job):
        return f"job {job.id}"
    return f"{job.kind.value} {job.payload.get('type') or ''}"
