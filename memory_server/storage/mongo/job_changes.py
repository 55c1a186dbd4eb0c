"""What transactions do to jobs, also as a part of something larger."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ReturnDocument

from memory_server.domain.job import Job, JobState, job_queue
from memory_server.domain.moments import from_micros, to_micros
from memory_server.errors import LeaseLost
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import JOBS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.job_documents import (
    free_at,
    is_by_itself,
    is_unfinished,
    job_document,
)
from memory_server.storage.mongo.job_owners import JobOwner, OwnerChanges
from memory_server.storage.mongo.json_fields import json_change

_NEVER: Document = {"available_at": ""}
"""What is unset where a job is not to be handed out any more."""
_NO_LEASE: Mapping[str, None] = {"lease_owner": None, "lease_until": None}


async def enqueue(
    database: MongoDatabase,
    session: Session,
    jobs: Sequence[Job],
    arrivals: Arrivals,
    *,
    snapshot_id: str | None = None,
    entered_at: datetime | None = None,
) -> int:
    """Queue the jobs that are new, as part of a snapshot if one is named; return how many.

    `entered_at` is when they come into the project, if that is not when they were made.
    """
    new = [
        job_document(job, snapshot_id=snapshot_id, arrived=arrivals.next())
        for job in await _unknown(database, session, jobs)
    ]
    if not new:
        return 0
    by_owner: defaultdict[JobOwner, list[Document]] = defaultdict(list)
    for document in new:
        by_owner[JobOwner.of(document)].append(document)
    for owner, documents in by_owner.items():  # newcomers in the order of their first jobs
        changes = OwnerChanges(database, session, owner)
        await changes.enter(entered_at or _first_made(documents))
        await changes.add(documents)
    return len(new)


async def settle(
    database: MongoDatabase, session: Session, job: Job, change: Mapping[str, Any]
) -> None:
    """Change a claimed job, or raise `LeaseLost` if this claim of it is not the last one.

    `change` holds fields, as `done`, `again` and `failed` return them.
    """
    claim = {
        "_id": identity(job.project_id, job.id),
        "state": JobState.RUNNING.value,
        "lease_owner": job.lease_owner,
        "attempts": job.attempts,
    }
    standing = _standing(job, change)
    is_done = standing == _NEVER
    update = {"$set": change, "$unset": _NEVER} if is_done else {"$set": {**change, **standing}}
    before = await database[JOBS].find_one_and_update(
        claim, update, return_document=ReturnDocument.BEFORE, session=session
    )
    if before is None:
        raise LeaseLost(f"job {job.id} is no longer {job.lease_owner}'s")
    if "state" in change or "lease_until" in change:
        was_head = "available_at" in before
        settled = {**before, **change, **standing}
        if is_done:
            del settled["available_at"]
        owner = OwnerChanges(database, session, JobOwner.of(settled))
        await owner.follow([settled], unfinished=-is_done, was_head=was_head)


def _standing(job: Job, change: Mapping[str, Any]) -> Document:
    """Return `available_at` as far as a change of a claimed job alone tells it."""
    after = {"id": job.id, "queue": job_queue(job), "state": JobState.RUNNING.value, **change}
    if not is_unfinished(after):
        return _NEVER
    is_told = is_by_itself(after) and ("state" in change or "lease_until" in change)
    return {"available_at": free_at(after)} if is_told else {}


def done(result: Mapping[str, Any], now: datetime) -> Document:
    """Return what makes a job done."""
    return {
        "state": JobState.DONE.value,
        "finished_at": to_micros(now),
        "error_code": None,
        "error": None,
        **_NO_LEASE,
        **json_change("result", result),
    }


def again(due_at: datetime, code: str, reason: str) -> Document:
    """Return what puts a job back to be tried again."""
    return {
        "state": JobState.QUEUED.value,
        "due_at": to_micros(due_at),
        "error_code": code,
        "error": reason,
        **_NO_LEASE,
    }


def failed(code: str, reason: str, now: datetime) -> Document:
    """Return what makes a job failed."""
    return {
        "state": JobState.FAILED.value,
        "finished_at": to_micros(now),
        "error_code": code,
        "error": reason,
        **_NO_LEASE,
    }


async def _unknown(database: MongoDatabase, session: Session, jobs: Sequence[Job]) -> Sequence[Job]:
    """Return the jobs whose keys are new, the first one of each."""
    first = {(job.project_id, job.key): job for job in reversed(jobs)}
    for project_id in {job.project_id for job in jobs}:
        keys = [key for of_project, key in first if of_project == project_id]
        known = database[JOBS].find(
            {"project_id": project_id, "key": {"$in": keys}}, {"key": 1}, session=session
        )
        async for one in known:
            del first[project_id, one["key"]]
    return [job for job in jobs if first.get((job.project_id, job.key)) is job]


def _first_made(documents: Sequence[Mapping[str, Any]]) -> datetime:
    return min(from_micros(one["created_at"]) for one in documents)
