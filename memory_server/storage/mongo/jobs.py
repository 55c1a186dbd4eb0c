"""The queue of background work in MongoDB."""

import logging
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any

from pymongo import ASCENDING, DESCENDING, ReturnDocument
from pymongo.errors import OperationFailure

from memory_server.domain.job import Job, JobCounts, JobKind, JobState, job_owner
from memory_server.domain.moments import maybe_moment, to_micros
from memory_server.errors import JobNotFound, LeaseLost
from memory_server.ports.jobs import Jobs
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import JOBS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.failures import WRITE_CONFLICT
from memory_server.storage.mongo.job_changes import again, done, enqueue, failed, settle
from memory_server.storage.mongo.job_documents import ANY_MOMENT, job_of
from memory_server.storage.mongo.job_owners import (
    JobOwner,
    OwnerChanged,
    OwnerChanges,
    WaitingOwner,
    waiting_owners,
)
from memory_server.storage.mongo.json_fields import json_change
from memory_server.storage.mongo.locks import Key, Locks

logger = logging.getLogger(__name__)

WORKER_DIED = "WORKER_DIED"
"""The code of a job that was given up because none of its workers settled it."""

_DIED = (
    "handed out {} times in a row to a worker that was not heard of again: see the "
    "log for what ended the server then, and queue the job again when that is mended"
)
_CLAIMS = [("claims",)]
"""What claims of one server hold: each of them would begin with the same owner."""
_AHEAD = 8
"""How many owners a claim may pass to at first: others may be writing those before."""
_CROWDED = 16
"""For how many claims after one that met another server owners are not taken in their order."""
_IN_ORDER = 4
"""Every which of these claims takes them in their order all the same."""
_TRIES = 100
"""How often one claim looks for owners before the worker rests; each try that fails is one that
another server won, or puts right when the owner's work is due."""
_PORTION = 100
"""How many failed jobs are queued again in one transaction."""


class MongoJobs(Jobs):
    """Jobs with leases; whoever settles one must still hold it."""

    def __init__(self, database: MongoDatabase, arrivals: Arrivals) -> None:
        self._database = database
        self._arrivals = arrivals
        self._locks = Locks(database)
        self._crowded = 0

    async def enqueue(self, jobs: Sequence[Job]) -> int:
        # One transaction for each owner: who is tried again finds by the keys what is queued.
        by_owner: dict[Key, list[Job]] = {}
        for job in jobs:
            by_owner.setdefault((job.project_id, job_owner(job.user_id)), []).append(job)
        return sum([await self._enqueue(owner, of_owner) for owner, of_owner in by_owner.items()])

    async def claim(
        self,
        *,
        worker: str,
        kinds: Sequence[JobKind],
        now: datetime,
        lease_until: datetime,
        max_attempts: int = 8,
    ) -> Job | None:
        if not kinds:
            return None
        await self._give_up(kinds, now, max_attempts)
        lease = {"lease_owner": worker, "lease_until": to_micros(lease_until)}
        async with self._locks.hold(_CLAIMS):
            for attempt in range(_TRIES):
                passes = attempt == 0
                owners = await waiting_owners(
                    self._database, kinds, to_micros(now), limit=_AHEAD if passes else 1
                )
                if not owners:
                    return None
                for waiting in self._apart(owners):
                    try:
                        claimed = await self._claim(waiting, lease, to_micros(now), passes=passes)
                    except OwnerChanged:
                        self._crowded = _CROWDED
                        continue
                    if claimed is not None:
                        return job_of(claimed)
        logger.warning("no job was claimed in %d tries; others took or changed them", _TRIES)
        return None

    async def extend(self, job: Job, *, lease_until: datetime) -> None:
        await self._settle(job, {"lease_until": to_micros(lease_until)})

    async def save_progress(self, job: Job, progress: Mapping[str, Any]) -> None:
        await self._settle(job, json_change("progress", progress))

    async def complete(self, job: Job, *, result: Mapping[str, Any], now: datetime) -> None:
        await self._settle(job, done(result, now))

    async def retry(self, job: Job, *, due_at: datetime, code: str, reason: str) -> None:
        await self._settle(job, again(due_at, code, reason))

    async def defer(self, job: Job, *, due_at: datetime, code: str, reason: str) -> None:
        untried = {"attempts": job.attempts - 1}
        await self._settle(job, {**again(due_at, code, reason), **untried})

    async def fail(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        await self._settle(job, failed(code, reason, now))

    async def requeue(self, project_id: str, job_id: str, *, due_at: datetime) -> Job:
        which = identity(project_id, job_id)
        requeued = await self._requeue([which], due_at)
        if not requeued:
            raise JobNotFound(f"no failed job {job_id!r} in this project")
        return job_of(requeued[0])

    async def requeue_failed(self, project_id: str, *, due_at: datetime) -> int:
        wanted = {"project_id": project_id, "state": JobState.FAILED.value}
        with self._database.translated():
            found = await self._database[JOBS].find(wanted, {"owner": 1}).to_list()
        count = 0
        for _, of_owner in groupby(sorted(found, key=_owner), key=_owner):
            ids = [job["_id"] for job in of_owner]
            for start in range(0, len(ids), _PORTION):
                count += len(await self._requeue(ids[start : start + _PORTION], due_at))
        return count

    async def list(
        self,
        project_id: str,
        *,
        state: JobState | None = None,
        user_id: str | None = None,
        limit: int = 100,
    ) -> Sequence[Job]:
        if limit <= 0:
            return []
        wanted = {"project_id": project_id} | ({} if state is None else {"state": state.value})
        wanted |= {} if user_id is None else {"user_id": user_id}
        newest = [("created_at", DESCENDING), ("arrived", DESCENDING)]
        with self._database.translated():
            found = self._database[JOBS].find(wanted).sort(newest).limit(limit)
            return [job_of(one) async for one in found]

    async def counts(self, project_id: str | None = None) -> JobCounts:
        every: Document = {"$in": [state.value for state in JobState]}
        of_project = {} if project_id is None else {"project_id": project_id}
        counting: Sequence[Document] = [
            {"$match": {**of_project, "state": every}},
            {
                "$group": {
                    "_id": "$state",
                    "jobs": {"$sum": 1},
                    "oldest": {"$min": "$created_at"},
                }
            },
        ]
        with self._database.translated():
            found = await (await self._database[JOBS].aggregate(counting)).to_list()
        counted = {one["_id"]: one for one in found}
        oldest = counted.get(JobState.QUEUED.value, {}).get("oldest")
        return JobCounts(
            **{state.value: int(counted.get(state.value, {}).get("jobs", 0)) for state in JobState},
            oldest_queued_at=maybe_moment(oldest),
        )

    async def _enqueue(self, owner: Key, jobs: Sequence[Job]) -> int:
        async with self._locks.hold([owner]):
            return await self._database.transact(
                lambda session: enqueue(self._database, session, jobs, self._arrivals)
            )

    async def _settle(self, job: Job, change: Mapping[str, Any]) -> None:
        async with self._locks.hold([(job.project_id, job_owner(job.user_id))]):
            await self._database.transact(
                lambda session: settle(self._database, session, job, change)
            )

    async def _give_up(self, kinds: Sequence[JobKind], now: datetime, max_attempts: int) -> None:
        """Fail jobs that were handed out often enough to workers that were heard of no more."""
        abandoned = {
            "state": JobState.RUNNING.value,
            "lease_until": {"$lte": to_micros(now)},
            "lost": {"$gte": max_attempts - 1},
            "kind": {"$in": [kind.value for kind in kinds]},
        }
        with self._database.translated():
            found = [job_of(one) async for one in self._database[JOBS].find(abandoned)]
        for job in found:
            with suppress(LeaseLost):  # another server was quicker, or the worker is back
                await self._settle(job, failed(WORKER_DIED, _DIED.format(max_attempts), now))

    def _apart(self, owners: Sequence[WaitingOwner]) -> Sequence[WaitingOwner]:
        """Return owners in the order to try them in: their own, unless other servers claim too.

        Servers that all began with the first would be in each other's way at every step; so each
        then begins somewhere among the few that were served longest ago. Now and then it begins
        with the first all the same, so that nobody is passed by for long.
        """
        self._crowded = max(0, self._crowded - 1)
        if self._crowded % _IN_ORDER == 0:
            return owners
        start = random.randrange(len(owners))  # noqa: S311 no secret
        return [*owners[start:], *owners[:start]]

    async def _claim(
        self, waiting: WaitingOwner, lease: Document, now: int, *, passes: bool
    ) -> Document | None:
        """Hand out the job of an owner that could be had longest; None if it has none.

        Raises `OwnerChanged` if another call changed what the owner was chosen by. With `passes`,
        another call that is about to is not waited for either.
        """
        wanted = {**waiting.first_jobs, "available_at": {**ANY_MOMENT, "$lt": now + 1}}

        async def claim(session: Session) -> Document | None:
            try:
                return await serve(session)
            except OperationFailure as error:
                if passes and error.code == WRITE_CONFLICT:
                    raise OwnerChanged from error
                raise

        async def serve(session: Session) -> Document | None:
            claimed = await self._database[JOBS].find_one_and_update(
                wanted,
                [{"$set": _held(lease)}],
                sort=[("available_at", ASCENDING), ("arrived", ASCENDING)],
                return_document=ReturnDocument.AFTER,
                session=session,
            )
            await OwnerChanges(self._database, session, waiting.owner).serve(waiting, claimed)
            return claimed

        return await self._database.transact(claim)

    async def _requeue(self, ids: Sequence[str], due_at: datetime) -> Sequence[Document]:
        """Queue those of an owner's jobs again that are failed; return them."""
        which = {"_id": {"$in": [*ids]}, "state": JobState.FAILED.value}
        change = {
            "state": JobState.QUEUED.value,
            "attempts": 0,
            "due_at": to_micros(due_at),
            "finished_at": None,
            "error_code": None,
            "error": None,
        }

        async def requeue(session: Session) -> Sequence[Document]:
            jobs = self._database[JOBS]
            found = await jobs.find(which, session=session).to_list()
            if not found:
                return []
            await jobs.update_many(which, {"$set": change}, session=session)
            requeued = [job | change for job in found]
            owner = OwnerChanges(self._database, session, JobOwner.of(found[0]))
            await owner.follow(requeued, unfinished=len(requeued))
            return requeued

        return await self._database.transact(requeue)


def _owner(document: Document) -> str:
    return str(document["owner"])


def _held(lease: Mapping[str, Any]) -> Document:
    """Return the fields of a job that is handed out, reckoned from those that it has.

    `lost` is how many of its leases expired in a row. What else of its queue may run has no lease
    beyond the moment at which the job is free.
    """
    is_lost = {"$eq": ["$state", JobState.RUNNING.value]}
    return {
        "state": JobState.RUNNING.value,
        "attempts": {"$add": ["$attempts", 1]},
        "lost": {"$cond": [is_lost, {"$add": ["$lost", 1]}, 0]},
        "available_at": {"$max": ["$available_at", lease["lease_until"]]},
        "lease_until": lease["lease_until"],
        "lease_owner": {"$literal": lease["lease_owner"]},
    }
