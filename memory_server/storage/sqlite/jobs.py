"""The queue of background work in SQLite."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_server.domain.job import Job, JobCounts, JobKind, JobState
from memory_server.domain.json_values import encode
from memory_server.domain.moments import maybe_moment, to_micros
from memory_server.errors import JobNotFound, LeaseLost
from memory_server.ports.jobs import Jobs
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.rows import job_of, job_values

SQL = load("memory_server.storage.sqlite", "jobs.sql")

WORKER_DIED = "WORKER_DIED"
"""The code of a job that was given up because none of its workers settled it."""

_DIED = (
    "handed out {} times in a row to a worker that was not heard of again: see the "
    "log for what ended the server then, and queue the job again when that is mended"
)


class SqliteJobs(Jobs):
    """Jobs with leases; whoever settles one must still hold it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def end_leases(self, now: datetime) -> None:
        """End every lease: only one process can have the file, so whoever held one is gone."""
        values = {"now": to_micros(now)}
        await self._database.write(lambda db: db.execute(SQL["end_leases"], values))

    async def enqueue(self, jobs: Sequence[Job]) -> int:
        return await self._database.write(lambda db: enqueue(db, jobs))

    async def claim(
        self,
        *,
        worker: str,
        kinds: Sequence[JobKind],
        now: datetime,
        lease_until: datetime,
        max_attempts: int = 8,
    ) -> Job | None:
        values = {
            "worker": worker,
            "kinds": json.dumps([kind.value for kind in kinds]),
            "now": to_micros(now),
            "lease_until": to_micros(lease_until),
            "max_attempts": max_attempts,
            "code": WORKER_DIED,
            "reason": _DIED.format(max_attempts),
        }
        return await self._database.write(lambda db: _claim(db, values))

    async def extend(self, job: Job, *, lease_until: datetime) -> None:
        await self._settle("extend", job, lease_until=to_micros(lease_until))

    async def save_progress(self, job: Job, progress: Mapping[str, Any]) -> None:
        await self._settle("save_progress", job, progress=encode(progress))

    async def complete(self, job: Job, *, result: Mapping[str, Any], now: datetime) -> None:
        await self._settle("complete", job, result=encode(result), now=to_micros(now))

    async def retry(self, job: Job, *, due_at: datetime, code: str, reason: str) -> None:
        await self._settle("retry", job, due_at=to_micros(due_at), code=code, reason=reason)

    async def defer(self, job: Job, *, due_at: datetime, code: str, reason: str) -> None:
        await self._settle("defer", job, due_at=to_micros(due_at), code=code, reason=reason)

    async def fail(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        await self._settle("fail", job, code=code, reason=reason, now=to_micros(now))

    async def requeue(self, project_id: str, job_id: str, *, due_at: datetime) -> Job:
        values = {"project_id": project_id, "id": job_id, "due_at": to_micros(due_at)}
        return await self._database.write(lambda db: _requeue(db, values))

    async def requeue_failed(self, project_id: str, *, due_at: datetime) -> int:
        values = {"project_id": project_id, "due_at": to_micros(due_at)}
        return await self._database.write(
            lambda db: db.execute(SQL["requeue_failed"], values).rowcount
        )

    async def list(
        self,
        project_id: str,
        *,
        state: JobState | None = None,
        user_id: str | None = None,
        limit: int = 100,
    ) -> Sequence[Job]:
        values = {
            "project_id": project_id,
            "state": state and state.value,
            "user_id": user_id,
            "limit": max(limit, 0),
        }
        statement = SQL["list" if state is None else "list_of_state"]
        return await self._database.read(
            lambda db: [job_of(row) for row in db.execute(statement, values)]
        )

    async def counts(self, project_id: str | None = None) -> JobCounts:
        values = {"project_id": project_id}
        rows = await self._database.read(lambda db: db.execute(SQL["counts"], values).fetchall())
        counts = {row["state"]: row["jobs"] for row in rows}
        oldest = {row["state"]: row["oldest"] for row in rows}
        return JobCounts(
            **{state.value: counts.get(state.value, 0) for state in JobState},
            oldest_queued_at=maybe_moment(oldest.get(JobState.QUEUED.value)),
        )

    async def _settle(self, statement: str, job: Job, **values: Any) -> None:
        await self._database.write(lambda db: settle(db, statement, job, values))


def enqueue(
    connection: sqlite3.Connection, jobs: Sequence[Job], *, snapshot_id: str | None = None
) -> int:
    """Queue the jobs that are new, as part of a snapshot if one is named; return how many."""
    new = 0
    for job in jobs:
        values = job_values(job) | {"snapshot_id": snapshot_id or job.payload.get("snapshot_id")}
        new += connection.execute(SQL["enqueue"], values).rowcount
    return new


def settle(
    connection: sqlite3.Connection, statement: str, job: Job, values: Mapping[str, Any]
) -> None:
    """Change a claimed job, or raise `LeaseLost` if this claim of it is not the last one."""
    claim = {
        "project_id": job.project_id,
        "id": job.id,
        "lease_owner": job.lease_owner,
        "attempts": job.attempts,
    }
    if not connection.execute(SQL[statement], {**claim, **values}).rowcount:
        raise LeaseLost(f"job {job.id} is no longer {job.lease_owner}'s")


def _requeue(connection: sqlite3.Connection, values: Mapping[str, Any]) -> Job:
    row = connection.execute(SQL["requeue"], values).fetchone()
    if row is None:
        raise JobNotFound(f"no failed job {values['id']!r} in this project")
    return job_of(row)


def _claim(connection: sqlite3.Connection, values: Mapping[str, Any]) -> Job | None:
    connection.execute(SQL["abandon"], values)
    (available_at,) = connection.execute(SQL["next_due"]).fetchone()
    if available_at is None or available_at > values["now"]:
        return None
    found = connection.execute(SQL["next"], values).fetchone()
    if found is None:
        return None
    connection.execute(SQL["served"], dict(found))
    return job_of(connection.execute(SQL["claim"], {**values, "seq": found["seq"]}).fetchone())
