"""Proposals in MongoDB."""

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import ASCENDING
from pymongo.errors import BulkWriteError

from memory_server.domain.job import Job
from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.proposal import Proposal, ProposalState
from memory_server.domain.scope import Scope
from memory_server.errors import ProposalChanged, ProposalNotFound
from memory_server.ports.clock import Clock
from memory_server.ports.proposals import ProposalCounts, ProposalQuery, Proposals
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import PROPOSALS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.failures import overtaken
from memory_server.storage.mongo.job_changes import done, settle
from memory_server.storage.mongo.json_fields import json_change, json_of
from memory_server.storage.proposal_values import proposal_of, proposal_values

_JSON = ("candidate", "original", "outcomes")
_OLDEST_FIRST = [("created_at", ASCENDING), ("id", ASCENDING)]


class MongoProposals(Proposals):
    """Proposals by id, each known by its key once."""

    def __init__(self, database: MongoDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self, project_id: str, proposals: Sequence[Proposal], *, settling: Job
    ) -> Sequence[str]:
        for proposal in proposals:
            if proposal.project_id != project_id:
                raise ValueError(f"proposal {proposal.id!r} belongs to another project")
        settled = done(settling.result, self._clock.now())

        async def add(session: Session) -> Sequence[str]:
            await settle(self._database, session, settling, settled)
            return await self._insert(session, project_id, proposals)

        return await self._database.transact(add)

    async def get(self, scope: Scope, proposal_id: str) -> Proposal:
        with self._database.translated():
            found = await self._database[PROPOSALS].find_one(
                {"_id": identity(scope.project_id, proposal_id), **_owned(scope)}
            )
        if found is None:
            raise _missing(proposal_id)
        return proposal_of_document(found)

    async def find(self, scope: Scope, query: ProposalQuery) -> Sequence[Proposal]:
        wanted = _owned(scope)
        if query.state is not None:
            wanted["state"] = query.state.value
        if query.type is not None:
            wanted["type"] = query.type.value
        if query.after is not None:
            wanted |= _after(await self.get(scope, query.after))
        if query.limit <= 0:
            return []
        with self._database.translated():
            found = self._database[PROPOSALS].find(wanted).sort(_OLDEST_FIRST).limit(query.limit)
            return [proposal_of_document(one) async for one in found]

    async def put(self, proposal: Proposal) -> None:
        async def store(session: Session) -> None:
            await put(self._database, session, proposal)

        await self._database.transact(store)

    async def counts(self, project_id: str | None = None) -> ProposalCounts:
        which = {} if project_id is None else {"project_id": project_id}
        by = {"_id": {"state": "$state", "action": "$action"}, "proposals": {"$sum": 1}}
        with self._database.translated():
            found = await self._database[PROPOSALS].aggregate([{"$match": which}, {"$group": by}])
            counted = {
                (one["_id"]["state"], one["_id"].get("action") or ""): int(one["proposals"])
                async for one in found
            }
        return ProposalCounts.of(counted)

    async def _insert(
        self, session: Session, project_id: str, proposals: Sequence[Proposal]
    ) -> Sequence[str]:
        keys = {"project_id": project_id, "key": {"$in": [one.key for one in proposals]}}
        known = await self._database[PROPOSALS].distinct("key", keys, session=session)
        first = {one.key: one for one in reversed(proposals)}
        new = [one for one in proposals if one.key not in known and first[one.key] is one]
        if not new:
            return []
        made_at = min(one.created_at for one in new)
        await gates.enter(self._database, session, project_id, new[0].user_id or "", made_at)
        documents = [proposal_document(one) for one in new]
        try:
            await self._database[PROPOSALS].insert_many(documents, session=session)
        except BulkWriteError as error:  # another transaction stored the same just now
            raise overtaken(error) from error
        return [one.id for one in new]


async def put(database: MongoDatabase, session: Session, proposal: Proposal) -> None:
    """Store a new state of a proposal that waits, or raise why it cannot be."""
    document = proposal_document(proposal)
    which = {"_id": document.pop("_id")}
    waits = {**which, "state": ProposalState.PENDING.value, "revision": proposal.revision - 1}
    stored = await database[PROPOSALS].update_one(waits, {"$set": document}, session=session)
    if stored.matched_count:
        return
    if await database[PROPOSALS].find_one(which, {"_id": 1}, session=session) is None:
        raise _missing(proposal.id)
    raise ProposalChanged(f"proposal {proposal.id!r} was changed meanwhile; read it again")


async def decide(
    database: MongoDatabase, session: Session, project_id: str, proposal: Proposal
) -> None:
    """Store what was decided on a proposal of a project, or raise why it cannot be."""
    if proposal.project_id != project_id:
        raise ValueError(f"proposal {proposal.id!r} belongs to another project")
    await put(database, session, proposal)


def proposal_document(proposal: Proposal) -> Document:
    """Return the document of a proposal."""
    values = proposal_values(proposal)
    document: Document = {
        "_id": identity(proposal.project_id, proposal.id),
        "created_at": to_micros(proposal.created_at),
        **{name: value for name, value in values.items() if name not in _JSON},
    }
    for name in _JSON:
        document |= json_change(name, values[name])
    return document


def proposal_of_document(document: Mapping[str, Any]) -> Proposal:
    """Return a proposal."""
    given = {name: json_of(document, name) for name in _JSON}
    return proposal_of({**document, **given}, created_at=from_micros(document["created_at"]))


def _owned(scope: Scope) -> Document:
    return dict(scope.of_user().conditions())


def _after(proposal: Proposal) -> Document:
    moment = to_micros(proposal.created_at)
    later = {"created_at": {"$gt": moment}}
    return {"$or": [later, {"created_at": moment, "id": {"$gt": proposal.id}}]}


def _missing(proposal_id: str) -> ProposalNotFound:
    return ProposalNotFound(f"no proposal {proposal_id!r} that this scope may see")
