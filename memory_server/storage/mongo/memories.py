"""Long-term memory in MongoDB: reading."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from pymongo import ASCENDING, DESCENDING

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.job import Job
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.proposal import Proposal
from memory_server.domain.scope import Scope
from memory_server.domain.utterance import Utterance, one_of_each, seen_by_each
from memory_server.errors import MemoryNotFound
from memory_server.ports.clock import Clock
from memory_server.ports.memories import Erase, Memories, MemoryOperation, MemoryQuery
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import MEMORIES
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.filters import filter_query
from memory_server.storage.mongo.job_changes import done, enqueue, settle
from memory_server.storage.mongo.locks import Locks
from memory_server.storage.mongo.memory_changes import Changes
from memory_server.storage.mongo.memory_documents import (
    SAID,
    UNREAD,
    dialogue_of,
    in_all_collections,
    memory_of,
)
from memory_server.storage.mongo.proposals import decide
from memory_server.storage.mongo.together import together

_EQUALITIES = {
    "key": "key",
    "domain": "domain",
    "identity_key": "identity_key",
    "subject": "claim.subject",
    "attribute": "claim.attribute",
}
"""Fields of a query and those of a document that they must equal."""

_LIVE_THEN_NEWEST = {"is_live": DESCENDING, "updated_at": DESCENDING, "id": DESCENDING}


class MongoMemories(Memories):
    """One collection for each type; a memory and its former versions are in the same."""

    def __init__(self, database: MongoDatabase, clock: Clock, arrivals: Arrivals) -> None:
        self._database = database
        self._arrivals = arrivals
        self._clock = clock
        self._locks = Locks(database)

    async def get(self, scope: Scope, memory_id: str) -> Memory:
        found = await self.get_many(scope, [memory_id])
        if not found:
            raise _missing(memory_id)
        return found[0]

    async def get_many(self, scope: Scope, ids: Sequence[str]) -> Sequence[Memory]:
        wanted = [identity(scope.project_id, one) for one in dict.fromkeys(ids)]
        match = {"_id": {"$in": wanted}, **_within(scope)}
        documents = await self._in_all([{"$match": match}, {"$project": UNREAD}])
        found = {document["id"]: memory_of(document) for document in documents}
        return [found[one] for one in dict.fromkeys(ids) if one in found]

    async def utterances(self, scope: Scope, ids: Sequence[str]) -> Sequence[Utterance]:
        read_for = one_of_each(ids)
        wanted = [identity(scope.project_id, one) for one in set(read_for.values())]
        match = {"_id": {"$in": wanted}, **_within(scope)}
        with self._database.translated():
            found = self._database[MEMORIES[MemoryType.BLOCK]].find(match, SAID)
            dialogues = {one["id"]: dialogue_of(one) async for one in found}
        return seen_by_each(read_for, dialogues)

    async def find(self, scope: Scope, query: MemoryQuery) -> Sequence[Memory]:
        if query.limit is not None and query.limit <= 0:
            return []
        match = _within(scope) | _matching(query)
        names = MEMORIES.values() if query.type is None else [MEMORIES[query.type]]
        with self._database.translated():
            found = await together(self._newest(name, match, query.limit or 0) for name in names)
        return [memory_of(one) for one in islice(_merged(found), query.limit)]

    async def history(self, scope: Scope, memory_id: str) -> Sequence[Memory]:
        known = {"_id": identity(scope.project_id, memory_id), **_within(scope)}
        found = await self._in_all([{"$match": known}, {"$project": {"type": 1, "root_id": 1}}])
        if not found:
            raise _missing(memory_id)
        root_id = found[0]["root_id"]
        collection = self._database[MEMORIES[MemoryType(found[0]["type"])]]
        with self._database.translated():
            versions = await collection.find(
                _within(scope) | {"root_id": root_id}, UNREAD
            ).to_list()
        return [memory_of(one) for one in sorted(versions, key=_age)]

    async def histories(
        self, scope: Scope, memory_ids: Sequence[str]
    ) -> Mapping[str, Sequence[Memory]]:
        match = _within(scope) | {"root_id": {"$in": [*memory_ids]}}
        versions = await self._in_all([{"$match": match}, {"$project": UNREAD}])
        found: dict[str, list[Memory]] = {}
        for one in sorted(versions, key=_age):
            found.setdefault(one["root_id"], []).append(memory_of(one))
        return found

    async def domains(self, scope: Scope) -> Sequence[str]:
        match = _within(scope) | {"is_live": True, "domain": {"$ne": None}}
        group = [{"$match": match}, {"$group": {"_id": "$domain"}}, {"$sort": {"_id": ASCENDING}}]
        with self._database.translated():
            found = await self._database[MEMORIES[MemoryType.TAXONOMIC]].aggregate(group)
            return [one["_id"] async for one in found]

    async def counts(self, scope: Scope) -> Mapping[str, int]:
        match = _within(scope) | {"is_live": True}
        with self._database.translated():
            found = await together(self._count(kind, match) for kind in MEMORIES)
        return dict(sorted(sum(found, Counter()).items()))

    async def apply(
        self,
        project_id: str,
        operations: Sequence[MemoryOperation],
        *,
        space: EmbeddingSpace | None = None,
        settling: Job | None = None,
        queueing: Sequence[Job] = (),
        deciding: Proposal | None = None,
    ) -> None:
        changes = Changes(project_id, operations, space)

        settled = None if settling is None else done(settling.result, self._clock.now())

        async def apply(session: Session) -> Mapping[str, list[str]]:
            if settling is not None and settled is not None:
                await settle(self._database, session, settling, settled)
            if deciding is not None:
                await decide(self._database, session, project_id, deciding)
            changed = await changes.apply(self._database, session)
            await enqueue(self._database, session, queueing, self._arrivals)
            return changed

        async with self._locks.hold(_owners(project_id, operations)):
            changed = await self._database.transact(apply)
        for name, ids in changed.items():
            self._database.announce(name, ids)

    async def _in_all(self, pipeline: Sequence[Document]) -> list[Document]:
        name, whole = in_all_collections(pipeline)
        with self._database.translated():
            return await (await self._database[name].aggregate(whole)).to_list()

    async def _newest(self, name: str, match: Document, limit: int) -> list[Document]:
        found = self._database[name].find(match, UNREAD).sort(_LIVE_THEN_NEWEST).limit(limit)
        return await found.to_list()

    async def _count(self, kind: MemoryType, match: Document) -> Counter[str]:
        name = "$custom_type" if kind is MemoryType.CUSTOM else {"$literal": kind.value}
        group = {"$group": {"_id": name, "memories": {"$sum": 1}}}
        found = await self._database[MEMORIES[kind]].aggregate([{"$match": match}, group])
        return Counter({one["_id"]: one["memories"] async for one in found})


def _owners(project_id: str, operations: Sequence[MemoryOperation]) -> Iterator[tuple[str, str]]:
    """Yield whose memories change; transactions that add to the same ones are in conflict."""
    for operation in operations:
        if not isinstance(operation, Erase):
            yield project_id, operation.memory.user_id or ""


def _within(scope: Scope) -> Document:
    return dict(scope.conditions())


def _matching(query: MemoryQuery) -> Document:
    match: Document = {
        path: getattr(query, name)
        for name, path in _EQUALITIES.items()
        if getattr(query, name) is not None
    }
    match |= _standing(query)
    if query.without_embedding:
        match["has_embedding"] = False
    if query.filter is not None:
        match["$and"] = [filter_query(query.filter)]
    return match


def _standing(query: MemoryQuery) -> Document:
    match query.include_deleted, query.include_superseded:
        case False, False:
            return {"is_live": True}
        case True, False:
            return {"is_latest": True}
        case False, True:
            return {"deleted": False}
    return {}


def _age(version: Document) -> tuple[bool, int, int, str]:
    """Return what the versions of a memory are in order by; the memory itself is the newest."""
    is_last = version["id"] == version["root_id"]
    return is_last, version["valid_from"], version["version"], version["id"]


def _merged(found: Sequence[Sequence[Document]]) -> Iterable[Document]:
    return merge(*found, key=_place, reverse=True)


def _place(document: Mapping[str, Any]) -> tuple[bool, int, str]:
    return document["is_live"], document["updated_at"], document["id"]


def _missing(memory_id: str) -> MemoryNotFound:
    return MemoryNotFound(f"no memory {memory_id!r} that this scope may see")
