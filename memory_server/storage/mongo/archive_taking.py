"""Taking the items of an archive in, in one transaction."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from memory_server.domain.archive import (
    ArchivedJob,
    ArchivedMemory,
    ArchivedProposal,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Item,
    Outcome,
    StoredVector,
    owner_of,
    project_of,
)
from memory_server.domain.job import resting
from memory_server.domain.moments import to_micros
from memory_server.domain.proposal import Proposal
from memory_server.search.atlas.documents import MOMENTS
from memory_server.storage.archive_outcomes import Judged
from memory_server.storage.mongo import erased, gates
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import JOBS, PROPOSALS, SESSIONS, SNAPSHOTS, TURNS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity, packed, space_key
from memory_server.storage.mongo.job_changes import enqueue
from memory_server.storage.mongo.memory_documents import (
    collection_of,
    memory_document,
    memory_values,
)
from memory_server.storage.mongo.proposals import proposal_document
from memory_server.storage.mongo.snapshots import snapshot_document
from memory_server.storage.mongo.turn_documents import turn_document

_DERIVED = frozenset(("_id", "text", "fields", MOMENTS, "has_embedding", "has_turns"))
"""What is made of the rest of a document, or changes by itself."""


class Taking:
    """The items of one portion; begun anew as often as others are in its way."""

    def __init__(
        self,
        database: MongoDatabase,
        arrivals: Arrivals,
        project_id: str,
        items: Sequence[Item],
        *,
        now: datetime,
        restore_erased: bool,
        dry_run: bool,
    ) -> None:
        for item in items:
            if project_of(item) != project_id:
                raise ValueError(f"an item of project {project_of(item)!r} among those of another")
        self._database = database
        self._arrivals = arrivals
        self._project_id = project_id
        self._items = items
        self._now = now
        self._restores = restore_erased
        self._judges = dry_run
        self._erased: dict[str | None, datetime | None] = {}
        self._entered: Document = {}
        self.changed: dict[str, list[str]] = defaultdict(list)
        """The `_id`s of what searches have to know of, by collection."""

    async def run(self, session: Session) -> Sequence[Outcome]:
        """Take the items in, in their order, and return what became of each.

        A dry run ends with `Judged`, so that nothing of it is kept.
        """
        self.changed.clear()
        self._erased.clear()
        self._entered = await gates.enter(self._database, session, self._project_id, "", self._now)
        if not self._restores:
            await erased.meet(self._database, session, self._project_id)
        outcomes = [await self._taken(session, item) for item in self._items]
        if self._judges:
            raise Judged(outcomes)
        return outcomes

    async def _taken(self, session: Session, item: Item) -> Outcome:
        known = await self._known(session, item)
        if known is not None:
            return known
        user_id, made_at = owner_of(item)
        if not self._restores and await self._is_erased(session, user_id, made_at):
            return Outcome.ERASED
        return await self._added(session, item)

    async def _is_erased(self, session: Session, user_id: str | None, made_at: datetime) -> bool:
        if user_id not in self._erased:
            moment = await erased.erased_at(self._database, session, self._project_id, user_id)
            self._erased[user_id] = moment
        last = self._erased[user_id]
        return last is not None and made_at <= last

    async def _known(self, session: Session, item: Item) -> Outcome | None:
        """Return how an item stands to what is stored in its place; None: nothing is."""
        match item:
            case ArchivedMemory():
                return await self._known_memory(session, item)
            case ArchivedProposal(proposal=proposal):
                return await self._known_proposal(session, proposal)
            case ArchivedSession(session=state):
                found = await self._session_of(session, state.session_id)
                is_behind = found is None or found["last_seq"] < state.last_seq
                return None if is_behind else Outcome.KNOWN
            case ArchivedTurn():
                return await self._known_turn(session, item)
            case ArchivedSnapshot(snapshot=snapshot):
                found = await self._stored(session, SNAPSHOTS, snapshot.id)
                return None if found is None else _standing(found, snapshot_document(snapshot))
            case ArchivedJob(job=job):
                alike = {"$or": [{"id": job.id}, {"key": job.key}]}
                found = await self._first(session, JOBS, alike)
                return None if found is None else Outcome.KNOWN

    async def _added(self, session: Session, item: Item) -> Outcome:
        match item:
            case ArchivedMemory():
                return await self._add_memory(session, item)
            case ArchivedProposal(proposal=proposal):
                document = proposal_document(proposal)
                await self._database[PROPOSALS].insert_one(document, session=session)
            case ArchivedSession(session=state):
                at = to_micros(state.last_activity)
                await self._hold(session, state.session_id, state.user_id, state.last_seq, at)
            case ArchivedTurn():
                await self._add_turn(session, item)
            case ArchivedSnapshot():
                return await self._add_snapshot(session, item)
            case ArchivedJob(job=job):
                await enqueue(
                    self._database,
                    session,
                    [resting(job)],
                    self._arrivals,
                    entered_at=self._now,
                )
        return Outcome.NEW

    async def _known_memory(self, session: Session, item: ArchivedMemory) -> Outcome | None:
        memory = item.memory
        found = await self._stored(session, collection_of(memory), memory.id)
        if found is None:
            return None
        is_later = found["revision"] > memory.revision or not (
            found["is_latest"] or memory.is_latest
        )
        if found["root_id"] != item.root_id:
            return Outcome.CONFLICT
        return Outcome.KNOWN if is_later else _standing(found, memory_values(memory))

    async def _known_proposal(self, session: Session, proposal: Proposal) -> Outcome | None:
        """Return how a proposal stands to one of its id or key, in whatever state that is."""
        for which in ({"id": proposal.id}, {"key": proposal.key}):
            found = await self._first(session, PROPOSALS, which)
            if found is not None:
                return Outcome.KNOWN if found["key"] == proposal.key else Outcome.CONFLICT
        return None

    async def _add_memory(self, session: Session, item: ArchivedMemory) -> Outcome:
        memory, name = item.memory, collection_of(item.memory)
        if memory.is_live and memory.identity_key is not None:
            namesake = {"user_id": memory.user_id, "live_identity": memory.identity_key}
            if await self._first(session, name, namesake) is not None:
                return Outcome.CONFLICT
        hidden = False
        if item.root_id != memory.id:
            root = await self._database[name].find_one_and_update(
                {  # a root of the same user: nobody's words come under another's memory
                    "_id": identity(self._project_id, item.root_id),
                    "root_id": item.root_id,
                    "user_id": memory.user_id,
                },
                {"$inc": {"joined": 1}},  # whoever changes the memory meanwhile is in our way
                projection={"deleted": 1},
                session=session,
            )
            if root is None:
                there = await self._stored(session, name, item.root_id)
                return Outcome.NEW if self._judges and there is None else Outcome.CONFLICT
            hidden = root["deleted"]
        document = memory_document(
            memory, root_id=item.root_id, hidden=hidden, vectors=_packed(item.vectors)
        )
        await self._insert(session, name, document)
        return Outcome.NEW

    async def _known_turn(self, session: Session, item: ArchivedTurn) -> Outcome | None:
        turn = item.turn
        of_session = {"session_id": turn.session_id}
        places: list[Document] = [{"id": turn.id}, {**of_session, "turn_seq": turn.turn_seq}]
        if turn.idempotency_key is not None:
            key = {"user_id": turn.user_id, "idempotency_key": turn.idempotency_key}
            places.append({**of_session, **key})
        for place in places:
            found = await self._first(session, TURNS, place)
            if found is not None:
                return _standing(found, {**turn_document(turn), "turn_seq": turn.turn_seq})
        return Outcome.KNOWN if await self._was_promoted(session, item) else None

    async def _was_promoted(self, session: Session, item: ArchivedTurn) -> bool:
        """Whether a turn was part of a snapshot here, and has gone since."""
        turn = item.turn
        if turn.snapshot_id is not None:
            if not item.snapshot_follows:
                return False
            return await self._stored(session, SNAPSHOTS, turn.snapshot_id) is not None
        around = {
            "session_id": turn.session_id,
            "first_seq": {"$lte": turn.turn_seq},
            "last_seq": {"$gte": turn.turn_seq},
        }
        return await self._first(session, SNAPSHOTS, around) is not None

    async def _add_turn(self, session: Session, item: ArchivedTurn) -> None:
        turn = item.turn
        created_at = to_micros(turn.created_at)
        state = await self._hold(session, turn.session_id, turn.user_id, turn.turn_seq, created_at)
        document = turn_document(turn) | {
            "turn_seq": turn.turn_seq,
            "recorded_at": self._arrivals.next(),
            "has_embedding": bool(item.vectors),
            "vectors": _packed(item.vectors),
        }
        if turn.snapshot_id is not None and not item.snapshot_follows:
            document["snapshot_id"] = turn.snapshot_id
        await self._insert(session, TURNS, document)
        if turn.snapshot_id is None:
            await self._let_wait(session, state, turn.turn_seq, created_at)

    async def _add_snapshot(self, session: Session, item: ArchivedSnapshot) -> Outcome:
        snapshot = item.snapshot
        state = await self._session_of(session, snapshot.session_id)
        run = {
            "project_id": self._project_id,
            "session_id": snapshot.session_id,
            "turn_seq": {"$gte": snapshot.first_seq, "$lte": snapshot.last_seq},
        }
        turns = self._database[TURNS]
        told = {"snapshot_id": 1, "turn_seq": 1, "user_id": 1}
        there = await turns.find(run, told, session=session).to_list()
        promoted_seq = 0 if state is None else state["promoted_seq"]
        for turn in there:
            of = turn.get("snapshot_id")
            if turn["user_id"] != snapshot.user_id:
                return Outcome.CONFLICT
            if of not in (None, snapshot.id) or (of is None and turn["turn_seq"] > promoted_seq):
                return Outcome.CONFLICT
        await self._database[SNAPSHOTS].insert_one(snapshot_document(snapshot), session=session)
        mine = [turn["_id"] for turn in there]
        await turns.update_many(
            {"_id": {"$in": mine}}, {"$set": {"snapshot_id": snapshot.id}}, session=session
        )
        self.changed[TURNS] += mine
        await enqueue(
            self._database,
            session,
            [resting(job) for job in item.jobs],
            self._arrivals,
            snapshot_id=snapshot.id,
            entered_at=self._now,
        )
        return Outcome.NEW

    async def _hold(
        self, session: Session, session_id: str, user_id: str | None, last_seq: int, at: int
    ) -> Document:
        """Keep a session's counters, or go on with them; nothing waits before its turns are."""
        found = await self._session_of(session, session_id)
        which = {"_id": identity(self._project_id, session_id)}
        if found is None:
            state: Document = {
                **which,
                "project_id": self._project_id,
                "session_id": session_id,
                "user_id": user_id,
                "last_seq": last_seq,
                "promoted_seq": last_seq,
                "unpromoted": 0,
                "last_activity": at,
                "waiting_since": None,
                "recorded_at": self._arrivals.next(),
                **self._entered,
            }
            await self._database[SESSIONS].insert_one(state, session=session)
            return state
        waits = found["promoted_seq"] < found["last_seq"]
        last = max(found["last_seq"], last_seq)
        change = {
            "user_id": user_id if found["user_id"] is None else found["user_id"],
            "promoted_seq": found["promoted_seq"] if waits else last,
            "last_seq": last,
            "last_activity": max(found["last_activity"], at),
        }
        await self._database[SESSIONS].update_one(which, {"$set": change}, session=session)
        return found | change

    async def _let_wait(
        self, session: Session, state: Mapping[str, Any], turn_seq: int, created_at: int
    ) -> None:
        """Let a session wait from a turn on, if it does not wait from an earlier one."""
        is_first = state["promoted_seq"] >= turn_seq
        first = {"promoted_seq": turn_seq - 1, "waiting_since": created_at} if is_first else {}
        change: Document = {"$inc": {"unpromoted": 1}} | ({"$set": first} if first else {})
        await self._database[SESSIONS].update_one({"_id": state["_id"]}, change, session=session)

    async def _insert(self, session: Session, collection: str, document: Document) -> None:
        await self._database[collection].insert_one(document, session=session)
        self.changed[collection].append(document["_id"])

    async def _session_of(self, session: Session, session_id: str) -> Document | None:
        return await self._stored(session, SESSIONS, session_id)

    async def _stored(self, session: Session, collection: str, named: str) -> Document | None:
        which = {"_id": identity(self._project_id, named)}
        return await self._database[collection].find_one(which, {"vectors": 0}, session=session)

    async def _first(
        self, session: Session, collection: str, wanted: Mapping[str, Any]
    ) -> Document | None:
        of_project = {"project_id": self._project_id, **wanted}
        return await self._database[collection].find_one(
            of_project, {"vectors": 0}, session=session
        )


def _packed(vectors: Sequence[StoredVector]) -> dict[str, Any]:
    return {space_key(one.space): packed(np.frombuffer(one.data, "<f4")) for one in vectors}


def _standing(stored: Mapping[str, Any], values: Mapping[str, Any]) -> Outcome:
    """Return whether a document says what the values say, whatever else it says."""
    told = {name: value for name, value in values.items() if name not in _DERIVED}
    agrees = all(stored.get(name) == _listed(value) for name, value in told.items())
    return Outcome.KNOWN if agrees else Outcome.CONFLICT


def _listed(value: Any) -> Any:
    """Return a value as the database gives it back: with lists, whatever sequences it had."""
    if isinstance(value, Mapping):
        return {name: _listed(one) for name, one in value.items()}
    return [_listed(one) for one in value] if isinstance(value, (list, tuple)) else value
