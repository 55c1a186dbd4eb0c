"""Jobs as documents."""

from collections.abc import Mapping
from typing import Any

from memory_server.domain.job import Job, JobKind, JobState, job_owner, job_queue
from memory_server.domain.moments import (
    from_micros,
    maybe_micros,
    maybe_moment,
    to_micros,
)
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.json_fields import json_field, json_of

_JSON = ("payload", "progress", "result")
_PLAIN = ("lease_owner", "error_code", "error")


def job_document(job: Job, *, snapshot_id: str | None, arrived: int) -> Document:
    """Return the document of a job that is new.

    Of the unfinished jobs of one `queue` of one `owner` only the oldest may run: the one that has
    a field `available_at`. `lost` counts the leases before this one that expired in a row.
    """
    document: Document = {
        "_id": identity(job.project_id, job.id),
        "id": job.id,
        "project_id": job.project_id,
        "kind": job.kind.value,
        "key": job.key,
        "owner": job_owner(job.user_id),
        "queue": job_queue(job),
        "user_id": job.user_id,
        "snapshot_id": snapshot_id or job.payload.get("snapshot_id"),
        "created_at": to_micros(job.created_at),
        "arrived": arrived,
        "due_at": to_micros(job.due_at),
        "state": job.state.value,
        "attempts": job.attempts,
        "lost": 0,
        "lease_until": maybe_micros(job.lease_until),
        "finished_at": maybe_micros(job.finished_at),
        **{name: getattr(job, name) for name in _PLAIN},
    }
    for name in _JSON:
        document |= json_field(name, getattr(job, name))
    if is_by_itself(document) and is_unfinished(document):
        document["available_at"] = free_at(document)
    return document


def job_of(document: Mapping[str, Any]) -> Job:
    """Return a job."""
    return Job(
        id=document["id"],
        project_id=document["project_id"],
        kind=JobKind(document["kind"]),
        key=document["key"],
        user_id=document["user_id"],
        created_at=from_micros(document["created_at"]),
        due_at=from_micros(document["due_at"]),
        state=JobState(document["state"]),
        attempts=int(document["attempts"]),
        lease_until=maybe_moment(document["lease_until"]),
        finished_at=maybe_moment(document["finished_at"]),
        **{name: document[name] for name in _PLAIN},
        **{name: json_of(document, name) for name in _JSON},
    )


def is_unfinished(document: Mapping[str, Any]) -> bool:
    """Whether a job waits or runs."""
    return document["state"] in UNFINISHED


def is_by_itself(document: Mapping[str, Any]) -> bool:
    """Whether a job's queue is of this one job."""
    return bool(document["queue"] == f"job {document['id']}")


def free_at(document: Mapping[str, Any]) -> int:
    """Return when an unfinished job could be handed out if no other ran: due, or lease expired."""
    running = document["state"] == JobState.RUNNING
    return int(document["lease_until"] if running else document["due_at"])


UNFINISHED = (JobState.QUEUED.value, JobState.RUNNING.value)
"""The states of jobs that are yet to be done."""
ANY_MOMENT = {"$gte": -(2**63)}
"""What a number is that is there at all: said so, a partial index serves who asks for a range."""
