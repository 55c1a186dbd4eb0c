"""Deleting everything of a user, of no user, or of a project.

Not in one transaction, for there may be more than one holds: session by session, and portion by
portion. That it happens is written down first, and whoever is interrupted is helped by the same
call again.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from memory_server.domain.erasure import COUNTED_AS
from memory_server.domain.job import job_owner
from memory_server.domain.scope import Scope
from memory_server.storage.mongo import erased
from memory_server.storage.mongo.collections import (
    EXECUTIONS,
    JOB_OWNERS,
    JOBS,
    MEMORIES,
    PROPOSALS,
    SESSIONS,
    SNAPSHOTS,
    TURNS,
)
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.job_documents import UNFINISHED
from memory_server.storage.mongo.sessions import skip_erased

PORTION = 500
"""How many documents are deleted at once."""
KINDS = (
    "turns",
    "snapshots",
    "jobs",
    "proposals",
    "records",
    "blocks",
    "memories",
    "sessions",
    "idempotency_keys",
    "index_entries",
    "vectors",
    "executions",
)


async def erase(database: MongoDatabase, scope: Scope, now: datetime) -> Mapping[str, int]:
    """Delete what the scope's user owns, or the project's all; return counts by kind.

    Work goes first, so that nothing of it is stored any more; again when there are no turns that
    it could be made of, and last, for what saved memories have queued. Whatever was stored before
    the call is gone when it returns. What is stored meanwhile is gone or is there, each write as
    a whole, but for a job that finds nothing to do.
    """
    erasing = _Erasing(database, scope)
    with database.translated():
        await erased.note(database, scope, now)
        await erasing.jobs()
        await erasing.sessions()
        await erasing.jobs()
        await erasing.proposals()
        await erasing.memories()
        await erasing.jobs()
        await erasing.executions()
    return {kind: erasing.counts[kind] for kind in KINDS}


class _Erasing:
    """One erasure, and what it has deleted so far."""

    def __init__(self, database: MongoDatabase, scope: Scope) -> None:
        self._database = database
        self._scope = scope
        self._owned: Document = dict(scope.of_user().conditions())
        self._is_of_all = scope.user_id is None and not scope.userless
        self.counts: Counter[str] = Counter()

    async def jobs(self) -> None:
        """Delete jobs: those that are over by portions, those to be done with their owners."""
        over = {**self._owned, "state": {"$nin": UNFINISHED}}
        while gone := await self._delete_jobs(over):
            self.counts["jobs"] += gone
        for owner in await self._owners():
            whose = {"project_id": self._scope.project_id, "owner": owner}
            is_left = True
            while is_left:
                gone = await self._database.transact(partial(self._delete_owner, whose=whose))
                self.counts["jobs"] += gone
                is_left = gone == PORTION

    async def sessions(self) -> None:
        """Delete turns and snapshots, and leave sessions to those who are still in them."""
        async for session_id in self._sessions_of():
            is_left = True
            while is_left:
                counts, turns = await self._database.transact(
                    partial(self._delete_session, session_id=session_id)
                )
                self._database.announce(TURNS, turns)
                self.counts.update(counts)
                is_left = len(turns) == PORTION

    async def proposals(self) -> None:
        """Delete proposals, whatever was decided on them."""
        deleted = await self._database[PROPOSALS].delete_many(self._owned)
        self.counts["proposals"] = deleted.deleted_count

    async def memories(self) -> None:
        for kind, collection in MEMORIES.items():
            while gone := await self._deleted_portion(collection):
                self.counts[COUNTED_AS.get(kind, "memories")] += gone

    async def executions(self) -> None:
        if self._scope.userless:  # an invocation is somebody's
            return
        deleted = await self._database[EXECUTIONS].delete_many(self._owned)
        self.counts["executions"] = deleted.deleted_count

    async def _sessions_of(self) -> AsyncIterator[str]:
        """Yield the sessions in which the owner has something."""
        steps: list[Document] = [{"$match": self._owned}, {"$group": {"_id": "$session_id"}}]
        unions = [
            {"$unionWith": {"coll": name, "pipeline": list(steps)}} for name in (TURNS, SNAPSHOTS)
        ]
        once = {"$group": {"_id": "$_id"}}
        found = await self._database[SESSIONS].aggregate([*steps, *unions, once])
        for one in await found.to_list():
            yield one["_id"]

    async def _delete_jobs(self, wanted: Document) -> int:
        found = await self._database[JOBS].find(wanted, {"_id": 1}).limit(PORTION).to_list()
        ids = {"_id": {"$in": [one["_id"] for one in found]}}
        return (await self._database[JOBS].delete_many(ids)).deleted_count if found else 0

    async def _owners(self) -> Sequence[str]:
        """Return whose jobs are to go; an owner may be gone before the last of the jobs is."""
        owners: Document = {"project_id": self._scope.project_id}
        if not self._is_of_all:
            owners["owner"] = job_owner(self._scope.user_id)
        known = await self._database[JOB_OWNERS].distinct("owner", owners)
        return sorted({*known, *await self._database[JOBS].distinct("owner", owners)})

    async def _delete_owner(self, session: Session, whose: Document) -> int:
        """Let nobody be handed any of an owner's jobs, and delete a portion of them."""
        await self._database[JOB_OWNERS].delete_many(whose, session=session)
        found = self._database[JOBS].find(whose, {"_id": 1}, session=session).limit(PORTION)
        ids = {"_id": {"$in": [one["_id"] async for one in found]}}
        return (await self._database[JOBS].delete_many(ids, session=session)).deleted_count

    async def _delete_session(
        self, session: Session, session_id: str
    ) -> tuple[Counter[str], list[str]]:
        """Delete a portion of a session's turns; with the last one, all else that is in it."""
        counts: Counter[str] = Counter()
        mine = self._owned | {"session_id": session_id}
        turns = await self._sizes(TURNS, mine, session, limit=PORTION)
        ids = [one["_id"] for one in turns]
        counts["turns"] = counts["index_entries"] = len(turns)
        counts["idempotency_keys"] = sum("idempotency_key" in one for one in turns)
        counts["vectors"] = sum(one["vectors"] for one in turns)
        await self._database[TURNS].delete_many({"_id": {"$in": ids}}, session=session)
        if len(turns) < PORTION:
            deleted = await self._database[SNAPSHOTS].delete_many(mine, session=session)
            counts["snapshots"] = deleted.deleted_count
        counts["sessions"] = await self._leave(session, session_id)
        return counts, ids

    async def _leave(self, session: Session, session_id: str) -> int:
        """Remove a session in which nobody is left, or leave it; return how many were removed."""
        which = {"_id": identity(self._scope.project_id, session_id)}
        there = {"project_id": self._scope.project_id, "session_id": session_id}
        turn = await self._database[TURNS].find_one(there, {"user_id": 1}, session=session)
        snapshot = await self._database[SNAPSHOTS].find_one(there, {"_id": 1}, session=session)
        if turn is None and snapshot is None:
            return (await self._database[SESSIONS].delete_one(which, session=session)).deleted_count
        user_id = None if turn is None else turn["user_id"]
        await self._database[SESSIONS].update_one(
            which, {"$set": {"user_id": user_id}}, session=session
        )
        await skip_erased(self._database, session, self._scope.project_id, session_id)
        return 0

    async def _deleted_portion(self, collection: str) -> int:
        found = await self._sizes(collection, self._owned, limit=PORTION)
        ids = [one["_id"] for one in found]
        if ids:
            await self._database[collection].delete_many({"_id": {"$in": ids}})
            self._database.announce(collection, ids)
        self.counts["index_entries"] += len(ids)
        self.counts["vectors"] += sum(one["vectors"] for one in found)
        return len(ids)

    async def _sizes(
        self,
        collection: str,
        wanted: Document,
        session: Session | None = None,
        *,
        limit: int | None = None,
    ) -> list[Document]:
        """Return the `_id`s of documents, their keys, and how many vectors each has."""
        held = {"$size": {"$objectToArray": {"$ifNull": ["$vectors", {}]}}}
        steps: list[Document] = [
            {"$match": wanted},
            *([] if limit is None else [{"$limit": limit}]),
            {"$project": {"idempotency_key": 1, "vectors": held}},
        ]
        found = await self._database[collection].aggregate(steps, session=session)
        return await found.to_list()
