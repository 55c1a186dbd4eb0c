"""Whose jobs wait, and since when the owners of jobs were not served.

For each owner there is a document: how many of its jobs are unfinished, when the first of them can
be handed out, by kind and in all (`due`, `due_at`), and the number of its last claim. Claims are
numbered from 1; owners never served come before all others, in the order of their arrival.
Whatever changes an owner's unfinished jobs changes this document too, its `changes` at least, in
the same transaction: of two that do so at once, the second sees what the first did.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo import ASCENDING, DESCENDING
from pymongo.errors import BulkWriteError, DuplicateKeyError

from memory_server.domain.job import JobKind, JobState
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import JOB_OWNERS, JOBS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.failures import overtaken
from memory_server.storage.mongo.job_documents import (
    ANY_MOMENT,
    free_at,
    is_by_itself,
    is_unfinished,
)

_DUPLICATE_KEY = 11000
_NEVER_SERVED = -1 << 40
_HEAD = {"available_at": ANY_MOMENT}
_ORDER = dict.fromkeys(
    ("id", "queue", "state", "created_at", "arrived", "due_at", "lease_until", "available_at"), 1
)
"""What of a job tells which one of a queue comes first, and when."""


@dataclass(frozen=True, slots=True)
class JobOwner:
    """A user of a project, or nobody."""

    project_id: str
    name: str

    @classmethod
    def of(cls, job: Mapping[str, Any]) -> "JobOwner":
        """Return the owner of a job's document."""
        return cls(job["project_id"], job["owner"])

    @property
    def which(self) -> Document:
        """What finds its document."""
        return {"_id": identity(self.project_id, self.name)}

    @property
    def jobs(self) -> Document:
        """What finds its jobs."""
        return {"project_id": self.project_id, "owner": self.name}


class OwnerChanged(Exception):
    """Another call changed an owner since it was found to wait, or is about to."""


@dataclass(frozen=True, slots=True)
class WaitingOwner:
    """An owner of whose jobs one can be had, as it was found."""

    owner: JobOwner
    kinds: Sequence[str]
    """Of the wanted ones those of which a job could be had longest; mostly one."""
    changes: int

    @classmethod
    def of(cls, document: Mapping[str, Any], kinds: Sequence[JobKind]) -> "WaitingOwner":
        """Return the owner of a document that has a job due of one of these kinds."""
        due = {kind.value: document["due"].get(kind.value) for kind in kinds}
        first = min(moment for moment in due.values() if moment is not None)
        earliest = [kind for kind, moment in due.items() if moment == first]
        return cls(JobOwner.of(document), earliest, document["changes"])

    @property
    def first_jobs(self) -> Document:
        """What finds its jobs of those kinds; for one kind the order of an index."""
        kind = self.kinds[0] if len(self.kinds) == 1 else {"$in": [*self.kinds]}
        return {**self.owner.jobs, "kind": kind}


class OwnerChanges:
    """What one transaction does to an owner's jobs, and what of the owner follows from it."""

    def __init__(self, database: MongoDatabase, session: Session, owner: JobOwner) -> None:
        self._database = database
        self._session = session
        self._owner = owner

    async def enter(self, created_at: datetime) -> None:
        """Let jobs made at that moment come in, or raise `ProjectNotFound`.

        A project's removal takes its owners away, so it does not miss whoever changes one that
        is there; who makes a new one goes by the gate.
        """
        owner, owners = self._owner, self._database[JOB_OWNERS]
        known = await owners.find_one(owner.which, session=self._session)
        if known is not None:
            gates.refuse_late(known, created_at)
            return
        entered = await gates.enter(
            self._database, self._session, owner.project_id, owner.name, created_at
        )
        newcomer = await self._newcomer() | entered
        try:
            await owners.insert_one(newcomer, session=self._session)
        except DuplicateKeyError as error:  # another server let the owner in just now
            raise overtaken(error) from error

    async def add(self, jobs: Sequence[Document]) -> None:
        """Store new jobs of an owner who was let in."""
        unsure = await self._queues_to_look_at(jobs)
        try:
            await self._database[JOBS].insert_many(jobs, session=self._session)
        except BulkWriteError as error:
            if (error.details or {}).get("writeErrors", [{}])[0].get("code") == _DUPLICATE_KEY:
                raise overtaken(error) from error
            raise
        for queue in unsure:
            await self._choose_head(queue)
        more = {"$add": ["$unfinished", sum(map(is_unfinished, jobs))]}
        await self._note({job["kind"] for job in jobs}, {"unfinished": more})

    async def follow(
        self, jobs: Sequence[Document], *, unfinished: int, was_head: bool = False
    ) -> None:
        """Bring the heads of queues and the owner up to date after a change of these jobs.

        `unfinished` is by how many the unfinished ones became more. `was_head`: each of them was
        the head of its queue, so that no other is to be looked for.
        """
        for job in jobs:
            if is_by_itself(job):
                await self._set_available(job, free_at(job) if is_unfinished(job) else None)
        heads = {job["queue"]: job for job in jobs if was_head and not is_by_itself(job)}
        for queue in sorted({job["queue"] for job in jobs if not is_by_itself(job)}):
            await self._choose_head(queue, heads.get(queue))
        await self._note(
            {job["kind"] for job in jobs}, {"unfinished": {"$add": ["$unfinished", unfinished]}}
        )

    async def serve(self, waiting: "WaitingOwner", job: Document | None) -> None:
        """Note that a job of the owner was handed out, which stays the head of its queue.

        Without a job, note that there is none to be had. Raises `OwnerChanged` if the owner is
        not any more as it was when it was found to wait.
        """
        if job is None:
            served = await self._note(waiting.kinds, {}, unless_changed=waiting)
        else:
            number = 1 + max(0, await self._last_claim({}))
            served = await self._note({job["kind"]}, {"last_claim": number}, unless_changed=waiting)
        if not served:
            raise OwnerChanged

    async def _queues_to_look_at(self, jobs: Sequence[Document]) -> Sequence[str]:
        """Make the oldest job of each queue that is new its head; return queues not so simple.

        A queue without a head is empty. Behind an older head, a job that waits changes nothing.
        """
        queues: defaultdict[str, list[Document]] = defaultdict(list)
        for job in jobs:
            if is_unfinished(job) and not is_by_itself(job):
                queues[job["queue"]].append(job)
        if not queues:
            return []
        found = self._database[JOBS].find(
            {**self._owner.jobs, "queue": {"$in": [*queues]}, **_HEAD},
            _ORDER,
            session=self._session,
        )
        heads = {head["queue"]: head async for head in found}
        for queue, those in queues.items():
            oldest = min(those, key=_age)
            if queue not in heads:
                oldest["available_at"] = free_at(oldest)
        return [
            queue
            for queue, those in queues.items()
            if any(job["state"] == JobState.RUNNING for job in those)
            or (queue in heads and min(map(_age, those)) < _age(heads[queue]))
        ]

    async def _note(
        self,
        kinds: Iterable[str],
        changes: Mapping[str, Any],
        *,
        unless_changed: "WaitingOwner | None" = None,
    ) -> bool:
        """Write down when jobs of these kinds can be had, and what else has changed."""
        due = {f"due.{kind}": await self._due(kind) for kind in kinds}
        first: Document = {"$min": [f"$due.{kind.value}" for kind in JobKind]}
        seen = {} if unless_changed is None else {"changes": unless_changed.changes}
        noted = await self._database[JOB_OWNERS].update_one(
            self._owner.which | seen,
            [
                {"$set": {**due, **changes, "changes": {"$add": ["$changes", 1]}}},
                {"$set": {"due_at": {"$ifNull": [first, "$$REMOVE"]}}},
            ],
            session=self._session,
        )
        return noted.matched_count > 0

    async def _choose_head(self, queue: str, former: Document | None = None) -> None:
        """Give `available_at` to the oldest unfinished job of a queue, and to no other.

        `former` is the job that had it; None: not known.
        """
        found = await self._contenders({**self._owner.jobs, "queue": queue}, former)
        unfinished = [job for job in found if is_unfinished(job)]
        head = min(unfinished, key=_age, default=None)
        for job in found:
            if job is head:
                leases = [
                    free_at(one)
                    for one in unfinished
                    if one is not job and one["state"] == JobState.RUNNING
                ]
                await self._set_available(job, max([free_at(job), *leases]))
            elif "available_at" in job:
                await self._set_available(job, None)

    async def _contenders(self, line: Document, head: Document | None) -> Sequence[Document]:
        """Return the jobs of a queue that run, are its head, or are the oldest that waits."""
        jobs, session = self._database[JOBS], self._session
        running = {**line, "state": JobState.RUNNING.value}
        queued = {**line, "state": JobState.QUEUED.value}
        oldest = [("created_at", ASCENDING), ("arrived", ASCENDING)]
        heads = (
            [head]
            if head
            else await jobs.find({**line, **_HEAD}, _ORDER, session=session).to_list()
        )
        found = [
            *heads,
            *await jobs.find(running, _ORDER, session=session).to_list(),
            *await jobs.find(queued, _ORDER, session=session).sort(oldest).limit(1).to_list(),
        ]
        return [*{job["id"]: job for job in found}.values()]

    async def _set_available(self, job: Document, moment: int | None) -> None:
        if job.get("available_at") == moment:
            return
        change = (
            {"$unset": {"available_at": ""}}
            if moment is None
            else {"$set": {"available_at": moment}}
        )
        await self._database[JOBS].update_one({"_id": job["_id"]}, change, session=self._session)

    async def _due(self, kind: str) -> int | None:
        first = await self._database[JOBS].find_one(
            {**self._owner.jobs, "kind": kind, **_HEAD},
            {"available_at": 1},
            sort=[("available_at", ASCENDING)],
            session=self._session,
        )
        return None if first is None else int(first["available_at"])

    async def _newcomer(self) -> Document:
        """Return the document of an owner that has no jobs yet."""
        before = await self._last_claim({"last_claim": {"$lt": 0}})
        return {
            **self._owner.which,
            **self._owner.jobs,
            "unfinished": 0,
            "changes": 0,
            "due": {},
            "last_claim": 1 + (before or _NEVER_SERVED),
        }

    async def _last_claim(self, wanted: Document) -> int:
        """Return the highest number of a claim, or 0."""
        last = await self._database[JOB_OWNERS].find_one(
            wanted, {"last_claim": 1}, sort=[("last_claim", DESCENDING)], session=self._session
        )
        return 0 if last is None else int(last["last_claim"])


def _age(job: Mapping[str, Any]) -> tuple[int, int]:
    return job["created_at"], job["arrived"]


async def waiting_owners(
    database: MongoDatabase, kinds: Sequence[JobKind], now: int, *, limit: int
) -> Sequence[WaitingOwner]:
    """Return those of whose jobs one can be handed out now, the one served longest ago first."""
    due = {"$lte": now}
    wanted = {"due_at": due, "$or": [{f"due.{kind.value}": due} for kind in kinds]}
    with database.translated():
        found = database[JOB_OWNERS].find(wanted).sort("last_claim", ASCENDING).limit(limit)
        return [WaitingOwner.of(one, kinds) async for one in found]
