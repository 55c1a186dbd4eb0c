"""Snapshots in MongoDB, and the sessions they are taken from."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING

from memory_server.domain.job import Job, JobState, job_owner
from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.proposal import ProposalState
from memory_server.domain.snapshot import SessionState, Snapshot, Trigger
from memory_server.errors import AlreadyPromoted, SnapshotNotFound
from memory_server.ports.snapshots import Snapshots
from memory_server.storage.mongo import gates, sessions
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import (
    JOB_OWNERS,
    JOBS,
    PROPOSALS,
    SESSIONS,
    SNAPSHOTS,
    TURNS,
)
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.job_changes import enqueue

PORTION = 100
"""How many documents are looked at, or deleted, at once."""

_OLDEST = [("created_at", ASCENDING), ("id", ASCENDING)]
_NOT_DONE = [state.value for state in JobState if state is not JobState.DONE]
_WAITING = [ProposalState.PENDING.value]


class MongoSnapshots(Snapshots):
    """Runs of turns, promoted with their jobs in one transaction."""

    def __init__(self, database: MongoDatabase, arrivals: Arrivals) -> None:
        self._database = database
        self._arrivals = arrivals

    async def session(self, project_id: str, session_id: str) -> SessionState | None:
        with self._database.translated():
            found = await self._database[SESSIONS].find_one(
                {"_id": identity(project_id, session_id)}
            )
        return None if found is None else sessions.state_of(found)

    async def waiting(
        self,
        *,
        min_turns: int,
        idle_since: datetime,
        limit: int,
        skip: int = 0,
        busy_at: int | None = None,
    ) -> Sequence[SessionState]:
        if limit <= 0 or (busy_at is not None and busy_at <= 0):
            return []
        steps: list[Document] = [
            {"$match": _ripe(min_turns, to_micros(idle_since))},
            {"$sort": {"waiting_since": 1, "project_id": 1, "session_id": 1}},
            *([] if busy_at is None else _of_idle_owners(busy_at)),
            {"$skip": max(skip, 0)},
            {"$limit": limit},
        ]
        with self._database.translated():
            found = await self._database[SESSIONS].aggregate(steps)
            return [sessions.state_of(one) async for one in found]

    async def promote(self, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
        turns = await self._database.transact(
            lambda session: self._promote(session, snapshot, jobs)
        )
        self._database.announce(TURNS, turns)

    async def get(self, project_id: str, snapshot_id: str) -> Snapshot:
        with self._database.translated():
            found = await self._database[SNAPSHOTS].find_one(
                {"_id": identity(project_id, snapshot_id)}
            )
        if found is None:
            raise SnapshotNotFound(f"no snapshot {snapshot_id!r} in this project")
        return snapshot_of(found)

    async def delete_promoted_turns(self, *, limit: int) -> int:
        gone = 0
        with self._database.translated():
            async for snapshot in self._settled({"has_turns": True}):
                if gone >= limit:
                    break
                gone += await self._delete_turns(snapshot, limit - gone)
        return gone

    async def expire(self, *, before: datetime, limit: int) -> int:
        moment = to_micros(before)
        found: list[Document] = []
        gone = 0
        with self._database.translated():
            async for snapshot in self._settled({"created_at": {"$lt": moment}}):
                if len(found) >= limit:
                    break
                found.append(snapshot)
            for snapshot in found:
                gone += await self._delete(snapshot)
            return gone + await self._delete_jobs(moment, limit - len(found))

    async def _promote(
        self, session: Session, snapshot: Snapshot, jobs: Sequence[Job]
    ) -> Sequence[str]:
        """Promote a run of turns; return their `_id`s."""
        of_session = {"project_id": snapshot.project_id, "session_id": snapshot.session_id}
        run = await self._next_run(session, snapshot, of_session)
        await self._database[SNAPSHOTS].insert_one(snapshot_document(snapshot), session=session)
        await self._database[TURNS].update_many(
            {**of_session, "turn_seq": {"$gte": snapshot.first_seq, "$lte": snapshot.last_seq}},
            {"$set": {"snapshot_id": snapshot.id}},
            session=session,
        )
        await sessions.advance(
            self._database,
            session,
            snapshot.project_id,
            snapshot.session_id,
            last_seq=snapshot.last_seq,
        )
        await enqueue(self._database, session, jobs, self._arrivals, snapshot_id=snapshot.id)
        return [turn["_id"] for turn in run]

    async def _next_run(
        self, session: Session, snapshot: Snapshot, of_session: Mapping[str, Any]
    ) -> Sequence[Document]:
        """Return a snapshot's turns, or raise `AlreadyPromoted` if others are next to wait."""
        first, last = snapshot.first_seq, snapshot.last_seq
        state = await self._database[SESSIONS].find_one(
            {"_id": identity(snapshot.project_id, snapshot.session_id)}, session=session
        )
        promoted_seq = state["promoted_seq"] if state else last
        waiting = {**of_session, "turn_seq": {"$gt": promoted_seq, "$lte": last}}
        found = self._database[TURNS].find(waiting, {"turn_seq": 1}, session=session)
        run = await found.sort("turn_seq", ASCENDING).to_list()
        if not run or (run[0]["turn_seq"], run[-1]["turn_seq"]) != (first, last):
            raise AlreadyPromoted(
                f"turns {first} to {last} of session {snapshot.session_id!r} are not the next "
                "ones that wait"
            )
        gates.refuse_late(state or {}, snapshot.created_at)
        return run

    async def _settled(self, wanted: Mapping[str, Any]) -> AsyncIterator[Document]:
        """Yield snapshots of which no job is to be done and no proposal waits, the oldest first."""
        cursor = self._database[SNAPSHOTS].find(wanted).sort(_OLDEST).batch_size(PORTION)
        async with cursor:
            while portion := await cursor.to_list(PORTION):
                held = {
                    *await self._held(portion, JOBS, _NOT_DONE),
                    *await self._held(portion, PROPOSALS, _WAITING),
                }
                for snapshot in portion:
                    if (snapshot["project_id"], snapshot["id"]) not in held:
                        yield snapshot

    async def _held(
        self, portion: Sequence[Document], collection: str, states: Sequence[str]
    ) -> Sequence[tuple[str, str]]:
        """Return project and id of the snapshots of which something is in one of these states."""
        of_these = {
            "snapshot_id": {"$in": [snapshot["id"] for snapshot in portion]},
            "state": {"$in": states},
        }
        found = self._database[collection].find(of_these, {"project_id": 1, "snapshot_id": 1})
        return [(one["project_id"], one["snapshot_id"]) async for one in found]

    async def _delete_turns(self, snapshot: Mapping[str, Any], limit: int) -> int:
        """Delete turns of a snapshot; note when it has none left. Returns how many went."""
        gone = 0
        while gone < limit:
            portion = min(PORTION, limit - gone)
            found = self._database[TURNS].find(_of(snapshot), {"_id": 1}).limit(portion)
            ids = [turn["_id"] async for turn in found]
            if ids:
                deleted = await self._database[TURNS].delete_many({"_id": {"$in": ids}})
                self._database.announce(TURNS, ids)
                gone += deleted.deleted_count
            if len(ids) < portion:
                await self._database[SNAPSHOTS].update_one(
                    {"_id": snapshot["_id"]}, {"$set": {"has_turns": False}}
                )
                break
        return gone

    async def _delete(self, snapshot: Mapping[str, Any]) -> int:
        """Delete a snapshot after what hangs on it, so that whoever is interrupted begins anew."""
        while await self._delete_turns(snapshot, PORTION):
            pass
        done = {**_of(snapshot), "state": JobState.DONE.value}
        await self._database[JOBS].delete_many(done)
        deleted = await self._database[SNAPSHOTS].delete_one({"_id": snapshot["_id"]})
        return deleted.deleted_count

    async def _delete_jobs(self, before: int, limit: int) -> int:
        """Delete done jobs of no snapshot; return how many."""
        done = {
            "snapshot_id": None,
            "state": JobState.DONE.value,
            "finished_at": {"$lt": before},
        }
        gone = 0
        while gone < limit:
            portion = min(PORTION, limit - gone)
            found = self._database[JOBS].find(done, {"_id": 1}).sort("finished_at").limit(portion)
            ids = [job["_id"] async for job in found]
            if not ids:
                break
            deleted = await self._database[JOBS].delete_many({"_id": {"$in": ids}})
            gone += deleted.deleted_count
        return gone


def _ripe(min_turns: int, idle_since: int) -> Document:
    return {
        "unpromoted": {"$gt": 0},
        "$or": [{"last_activity": {"$lte": idle_since}}, {"unpromoted": {"$gte": min_turns}}],
    }


def _of_idle_owners(busy_at: int) -> Sequence[Document]:
    """Return the steps that leave out sessions whose user has that many unfinished jobs."""
    name = {
        "$cond": [
            {"$eq": ["$user_id", None]},
            job_owner(None),
            {"$concat": [job_owner(""), "$user_id"]},
        ]
    }
    of_session = [{"$eq": ["$project_id", "$$project"]}, {"$eq": ["$owner", "$$owner"]}]
    return [
        {
            "$lookup": {
                "from": JOB_OWNERS,
                "let": {"project": "$project_id", "owner": name},
                "pipeline": [{"$match": {"$expr": {"$and": of_session}}}],
                "as": "owner",
            }
        },
        {"$match": {"owner.unfinished": {"$not": {"$gte": busy_at}}}},
    ]


def _of(snapshot: Mapping[str, Any]) -> Document:
    return {"project_id": snapshot["project_id"], "snapshot_id": snapshot["id"]}


def snapshot_document(snapshot: Snapshot) -> Document:
    """Return a new snapshot's document."""
    return {
        "_id": identity(snapshot.project_id, snapshot.id),
        "id": snapshot.id,
        "project_id": snapshot.project_id,
        "session_id": snapshot.session_id,
        "user_id": snapshot.user_id,
        "agent_id": snapshot.agent_id,
        "first_seq": snapshot.first_seq,
        "last_seq": snapshot.last_seq,
        "trigger": snapshot.trigger.value,
        "created_at": to_micros(snapshot.created_at),
        "has_turns": True,
    }


def snapshot_of(document: Mapping[str, Any]) -> Snapshot:
    """Return a snapshot."""
    return Snapshot(
        id=document["id"],
        project_id=document["project_id"],
        session_id=document["session_id"],
        user_id=document["user_id"],
        agent_id=document["agent_id"],
        first_seq=int(document["first_seq"]),
        last_seq=int(document["last_seq"]),
        trigger=Trigger(document["trigger"]),
        created_at=from_micros(document["created_at"]),
    )
