"""Archives of a MongoDB database: reading at one moment, and the port over both directions."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from pymongo.errors import OperationFailure

from memory_server.domain.archive import (
    PORTABLE,
    ArchivedJob,
    ArchivedMemory,
    ArchivedProposal,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Contents,
    Item,
    Outcome,
    StoredVector,
)
from memory_server.domain.job import JobState, resting
from memory_server.errors import StorageUnavailable
from memory_server.ports.archive import Archive, Reading
from memory_server.ports.clock import Clock
from memory_server.storage.archive_outcomes import Judged
from memory_server.storage.mongo import sessions
from memory_server.storage.mongo.archive_taking import Taking
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import (
    JOBS,
    MEMORIES,
    PROPOSALS,
    SESSIONS,
    SNAPSHOTS,
    TURNS,
)
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document, space_of_key, vectors_of
from memory_server.storage.mongo.job_documents import job_of
from memory_server.storage.mongo.memory_documents import memory_of
from memory_server.storage.mongo.proposals import proposal_of_document
from memory_server.storage.mongo.snapshots import snapshot_of
from memory_server.storage.mongo.turn_documents import turn_of

PORTION = 100
"""Documents that are read at a time: each call is short, however long the whole takes."""
_TOO_OLD = (239, 246)
"""SnapshotTooOld, SnapshotUnavailable."""
_NOT_DONE = [state.value for state in JobState if state is not JobState.DONE]


class MongoArchive(Archive):
    """Everything of a project, out of the database and into it."""

    def __init__(self, database: MongoDatabase, arrivals: Arrivals, clock: Clock) -> None:
        self._database = database
        self._arrivals = arrivals
        self._clock = clock

    async def begin(self, contents: Contents) -> Reading:
        reading = MongoReading(self._database, contents)
        try:
            await reading.find_spaces()
        except BaseException:
            await reading.close()
            raise
        return reading

    async def write(
        self,
        project_id: str,
        items: Sequence[Item],
        *,
        restore_erased: bool = False,
        dry_run: bool = False,
    ) -> Sequence[Outcome]:
        taking = Taking(
            self._database,
            self._arrivals,
            project_id,
            items,
            now=self._clock.now(),
            restore_erased=restore_erased,
            dry_run=dry_run,
        )
        try:
            outcomes = await self._database.transact(taking.run)
        except Judged as judged:
            return judged.outcomes
        for collection, ids in taking.changed.items():
            self._database.announce(collection, ids)
        return outcomes


class MongoReading(Reading):
    """One moment of the database, in a session that sees no other."""

    def __init__(self, database: MongoDatabase, contents: Contents) -> None:
        self._database = database
        self._contents = contents
        self._session = database.client.start_session(snapshot=True)
        self._spaces: Sequence[str] = ()

    @property
    def spaces(self) -> Sequence[str]:
        return self._spaces

    async def find_spaces(self) -> None:
        """Begin the moment, and learn of what spaces the vectors are."""
        with self._database.translated():
            await self._database[SESSIONS].find_one({}, {"_id": 1}, session=self._session)
            if self._contents.with_vectors:
                found = [await self._spaces_in(name) for name in self._collections()]
                self._spaces = sorted(set().union(*found))

    async def portions(self) -> AsyncGenerator[Sequence[Item]]:
        for source in self._sources():
            async with aclosing(source) as portions:
                async for portion in portions:
                    yield portion

    async def close(self) -> None:
        await self._session.end_session()

    def _collections(self) -> Sequence[str]:
        named = [] if self._contents.memory_types == [] else list(MEMORIES.values())
        return [*named, TURNS] if self._contents.has_turns else named

    async def _spaces_in(self, collection: str) -> set[str]:
        """Return the names of the spaces in which an owner has vectors."""
        steps: list[Document] = [
            {"$match": self._owned() | {"has_embedding": True}},
            {"$project": {"space": {"$objectToArray": "$vectors"}}},
            {"$unwind": "$space"},
            {"$group": {"_id": "$space.k"}},
        ]
        found = await self._database[collection].aggregate(steps, session=self._session)
        return {space_of_key(one["_id"]) async for one in found}

    def _sources(self) -> Sequence[AsyncGenerator[Sequence[Item]]]:
        contents = self._contents
        sources: list[AsyncGenerator[Sequence[Item]]] = []
        if contents.memory_types != []:
            sources += [
                self._memories(name, former=former)
                for name in MEMORIES.values()
                for former in (False, True)
            ]
            sources.append(self._proposals())
        if contents.has_turns:
            sources += [self._of_sessions(), self._turns(), self._snapshots()]
        if contents.is_whole:
            sources.append(self._jobs())
        return sources

    async def _memories(
        self, collection: str, *, former: bool
    ) -> AsyncGenerator[Sequence[ArchivedMemory]]:
        wanted = self._owned() | {"$expr": {"$ne" if former else "$eq": ["$root_id", "$id"]}}
        types = self._contents.memory_types
        if types is not None:
            named = {"$in": list(types)}
            wanted["$or"] = [{"type": named}, {"type": "custom", "custom_type": named}]
        async with aclosing(self._pages(collection, wanted)) as pages:
            async for page in pages:
                yield [
                    ArchivedMemory(
                        memory=memory_of(one), root_id=one["root_id"], vectors=self._vectors(one)
                    )
                    for one in page
                ]

    async def _proposals(self) -> AsyncGenerator[Sequence[ArchivedProposal]]:
        types = self._contents.memory_types
        wanted = self._owned() | ({} if types is None else {"type": {"$in": list(types)}})
        async with aclosing(self._pages(PROPOSALS, wanted)) as pages:
            async for page in pages:
                yield [ArchivedProposal(proposal=proposal_of_document(one)) for one in page]

    async def _of_sessions(self) -> AsyncGenerator[Sequence[ArchivedSession]]:
        wanted = {"project_id": self._contents.project_id}
        async with aclosing(self._pages(SESSIONS, wanted)) as pages:
            async for page in pages:
                yield [ArchivedSession(session=one) for one in await self._concerned(page)]

    async def _concerned(self, page: Sequence[Document]) -> Sequence[Any]:
        """Return the sessions of a page in which the owner has something."""
        states = [sessions.state_of(one) for one in page]
        user_id = self._contents.user_id
        if user_id is None:
            return states
        ids = {"$in": [one.session_id for one in states]}
        there = set(
            await self._database[TURNS].distinct(
                "session_id", self._owned() | {"session_id": ids}, session=self._session
            )
        )
        return [
            replace(one, user_id=user_id)
            for one in states
            if one.user_id == user_id or one.session_id in there
        ]

    async def _turns(self) -> AsyncGenerator[Sequence[ArchivedTurn]]:
        async with aclosing(self._pages(TURNS, self._owned(), "recorded_at")) as pages:
            async for page in pages:
                known = await self._known_snapshots(page, self._owned())
                yield [
                    ArchivedTurn(
                        turn=turn_of(one),
                        vectors=self._vectors(one),
                        snapshot_follows=one.get("snapshot_id") in known,
                    )
                    for one in page
                ]

    async def _snapshots(self) -> AsyncGenerator[Sequence[ArchivedSnapshot]]:
        async with aclosing(self._pages(SNAPSHOTS, self._owned())) as pages:
            async for page in pages:
                of_these = {
                    "project_id": self._contents.project_id,
                    "snapshot_id": {"$in": [one["id"] for one in page]},
                    "state": {"$in": _NOT_DONE},
                }
                found = self._database[JOBS].find(of_these, session=self._session)
                jobs = await found.sort("arrived").to_list()
                yield [
                    ArchivedSnapshot(
                        snapshot=snapshot_of(one),
                        jobs=[
                            resting(job_of(job)) for job in jobs if job["snapshot_id"] == one["id"]
                        ],
                    )
                    for one in page
                ]

    async def _jobs(self) -> AsyncGenerator[Sequence[ArchivedJob]]:
        wanted = self._owned() | {
            "state": {"$in": _NOT_DONE},
            "kind": {"$in": [kind.value for kind in PORTABLE]},
        }
        of_project = {"project_id": self._contents.project_id}
        async with aclosing(self._pages(JOBS, wanted)) as pages:
            async for page in pages:
                known = await self._known_snapshots(page, of_project)
                yield [
                    ArchivedJob(job=resting(job_of(one)))
                    for one in page
                    if one["snapshot_id"] not in known
                ]

    async def _known_snapshots(
        self, page: Sequence[Document], wanted: Mapping[str, Any]
    ) -> set[str]:
        named = {one["snapshot_id"] for one in page if one.get("snapshot_id") is not None}
        found = self._database[SNAPSHOTS].find(
            {**wanted, "id": {"$in": list(named)}}, {"id": 1}, session=self._session
        )
        return {one["id"] async for one in found}

    async def _pages(
        self, collection: str, wanted: Mapping[str, Any], order: str = "_id"
    ) -> AsyncGenerator[Sequence[Document]]:
        """Yield what is wanted, some at a time, each from where the last one ended."""
        after: Document = {}
        while True:
            page = await self._asked(collection, {"$and": [wanted, after]}, order)
            if not page:
                return
            yield page
            last = page[-1]
            after = {"_id": {"$gt": last["_id"]}}
            if order != "_id":
                after = {"$or": [{order: {"$gt": last[order]}}, {order: last[order], **after}]}

    async def _asked(
        self, collection: str, wanted: Mapping[str, Any], order: str
    ) -> Sequence[Document]:
        projection = None if self._contents.with_vectors else {"vectors": 0}
        keys = [(order, 1)] if order == "_id" else [(order, 1), ("_id", 1)]
        with self._database.translated():
            try:
                found = self._database[collection].find(wanted, projection, session=self._session)
                return await found.sort(keys).limit(PORTION).to_list()
            except OperationFailure as error:
                if error.code not in _TOO_OLD:
                    raise
                raise StorageUnavailable(
                    f"{self._database.location}: the export took longer than the deployment keeps "
                    "its history, so that its moment is gone: let it keep more "
                    "(minSnapshotHistoryWindowInSeconds), or export less at a time, by user or "
                    "type"
                ) from error

    def _owned(self) -> Document:
        owned = {"project_id": self._contents.project_id}
        user_id = self._contents.user_id
        return owned if user_id is None else owned | {"user_id": user_id}

    def _vectors(self, document: Mapping[str, Any]) -> Sequence[StoredVector]:
        if not self._contents.with_vectors:
            return ()
        return [
            StoredVector(space=space, data=vector.astype("<f4").tobytes())
            for space, vector in sorted(vectors_of(document).items())
        ]
