"""The embedding spaces of a MongoDB store.

One document says whose vectors answer, and how far the way to others is. The vectors are fields of
their turns and memories, by the names of their spaces.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from pymongo import ASCENDING
from pymongo.errors import DuplicateKeyError

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.job import Job
from memory_server.domain.moments import maybe_moment, to_micros
from memory_server.domain.spaces import SpacesInUse, job_of
from memory_server.ports.spaces import BareTurns, Given, Missing, Spaces, Switch
from memory_server.project_config import EmbeddingConfig
from memory_server.search.local.vectors import spaced
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import MEMORIES, SPACES, TURNS
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import (
    Document,
    identity,
    packed,
    space_key,
    space_of_key,
)
from memory_server.storage.mongo.failures import overtaken
from memory_server.storage.mongo.job_changes import done, enqueue, settle

COLLECTIONS = (TURNS, *MEMORIES.values())
_THE_ONE = {"_id": "spaces"}
_HELD: Document = {"has_embedding": True}
"""What is so of a document that has a vector of some space."""
_BARE: Mapping[BareTurns, Document] = {
    BareTurns.NONE: _HELD,
    BareTurns.PROMOTED: {"$or": [_HELD, {"snapshot_id": {"$type": "string"}}]},
    BareTurns.ALL: {},
}
_NEW: Mapping[str, Any] = {
    "active": None,
    "target": None,
    "revision": 0,
    "changed_at": None,
    "done": 0,
    "refused": 0,
    "total": 0,
    "outdated": [],
}
_OF_A_TURN = {"id": 1, "project_id": 1, "session_id": 1, "turn_seq": 1, "snapshot_id": 1}


class MongoSpaces(Spaces):
    """The spaces of all servers of one database."""

    def __init__(self, database: MongoDatabase, arrivals: Arrivals) -> None:
        self._database = database
        self._arrivals = arrivals
        self._dropped: dict[tuple[int, str], Document] = {}
        """Up to which document outdated vectors are removed, by revision and collection."""

    async def look(self, *, counted: bool = False) -> SpacesInUse:
        return await look(self._database, counted=counted)

    async def declare(self, embedding: EmbeddingConfig, *, now: datetime) -> SpacesInUse:
        spaces = await self.look(counted=True)
        kept = spaces.active
        if kept is not None and not spaces.is_empty and kept.space != embedding.space:
            return spaces
        target = None if spaces.is_empty else spaces.target
        if (embedding, target) == (spaces.active, spaces.target):
            return spaces
        ahead = replace(spaces, active=embedding, target=target)

        async def note(session: Session) -> None:
            stored = await self._stored(session)
            if stored["revision"] == spaces.revision:
                await self._note(session, stored, ahead, now)

        await self._database.transact(note)
        return await self.look(counted=True)

    async def begin(self, target: EmbeddingConfig, job: Job, *, now: datetime) -> SpacesInUse:
        held = sum((await self.look(counted=True)).vectors.values())

        async def note(session: Session) -> None:
            stored = await self._stored(session)
            spaces = _spaces(stored)
            if spaces.target is not None and spaces.target.space == target.space:
                return
            ahead = replace(spaces, target=target)
            revision = await self._note(session, stored, ahead, now, total=held)
            await enqueue(self._database, session, [job_of(job, revision)], self._arrivals)

        await self._database.transact(note)
        return await self.look()

    async def cancel(self, *, now: datetime) -> SpacesInUse:
        async def note(session: Session) -> None:
            stored = await self._stored(session)
            if stored["target"] is not None:
                ahead = replace(_spaces(stored), target=None)
                await self._note(session, stored, ahead, now)

        await self._database.transact(note)
        return await self.look()

    async def missing(
        self,
        space: str,
        *,
        after: str | None = None,
        limit: int,
        bare: BareTurns = BareTurns.NONE,
    ) -> Sequence[Missing]:
        first, *last = json.loads(after) if after else (0,)
        found: list[Missing] = []
        with self._database.translated():
            for place, name in list(enumerate(COLLECTIONS))[first:]:
                beyond = {"_id": {"$gt": identity(*last)}} if last and place == first else {}
                held = _BARE[bare] if name == TURNS else _HELD
                wanted = {**beyond, **_without(space_key(space)), **held}
                documents = await self._some(name, wanted, limit - len(found))
                before = await self._before(documents) if name == TURNS else {}
                found += [_missing(place, one, before) for one in documents]
                if len(found) >= limit:
                    break
        return found

    async def give(self, vectors: Sequence[Given], space: EmbeddingSpace) -> None:
        key = space_key(space)
        given = refused = 0
        with self._database.translated():
            for one in vectors:
                change: Document = {"$addToSet": {"refused": key}}
                if one.vector is not None:
                    spaced(one.vector, space)  # refuses one of another dimension
                    change = {"$set": {f"vectors.{key}": packed(one.vector), "has_embedding": True}}
                if await self._give(one, key, change):
                    given += one.vector is not None
                    refused += one.vector is None
            progress = {"$inc": {"done": given, "refused": refused}}
            of_target = {**_THE_ONE, "target.space": space.name}
            await self._database[SPACES].update_one(of_target, progress)

    async def switch(self, settling: Job, *, now: datetime) -> Switch:
        spaces = await self.look()
        if spaces.target is None or settling.payload.get("revision") != spaces.revision:
            return Switch.CHANGED
        if await self.missing(spaces.target.space, limit=1):
            return Switch.MISSING

        async def change(session: Session) -> Switch:
            stored = await self._stored(session)
            if stored["revision"] != spaces.revision:
                return Switch.CHANGED
            await settle(self._database, session, settling, done(settling.result, now))
            ahead = replace(_spaces(stored), active=spaces.target, target=None)
            await self._note(session, stored, ahead, now)
            return Switch.DONE

        return await self._database.transact(change)

    async def drop(self, *, limit: int) -> int:
        spaces = await self.look()
        kept = {one.space for one in (spaces.active, spaces.target) if one is not None}
        names = [name for name in spaces.vectors if name not in kept]
        if spaces.active is None or not names:
            return 0
        with self._database.translated():
            for name in COLLECTIONS:
                at = (spaces.revision, name)
                dropped = await self._drop(at, names, space_key(spaces.active.space), limit)
                if dropped:
                    return dropped
            self._dropped.clear()
            await self._forget(names, spaces.revision)
        return 0

    async def _drop(
        self, at: tuple[int, str], spaces: Sequence[str], active: str, limit: int
    ) -> int:
        """Remove vectors of these spaces from some documents of a collection."""
        name = at[1]
        beyond = {"_id": {"$gt": self._dropped[at]}} if at in self._dropped else {}
        held = [{f"vectors.{space_key(space)}": {"$exists": True}} for space in spaces]
        answered = [{f"vectors.{active}": {"$exists": True}}, {"refused": active}]
        wanted = {**beyond, "$and": [{"$or": held}, {"$or": answered}]}
        found = await self._some(name, wanted, limit)
        if not found:
            return 0
        ids = [one["_id"] for one in found]
        gone = {"$unset": {f"vectors.{space_key(space)}": "" for space in spaces}}
        of_these: Document = {"_id": {"$in": ids}}
        collection = self._database[name]
        await collection.update_many(of_these | {f"vectors.{active}": {"$exists": True}}, gone)
        await collection.update_many(
            of_these | {f"vectors.{active}": {"$exists": False}, "refused": active},
            {**gone, "$set": {"has_embedding": False}},
        )
        self._database.announce(name, ids)
        self._dropped[at] = ids[-1]
        return len(ids)

    async def _forget(self, names: Sequence[str], revision: int) -> None:
        """Forget spaces of which nothing is left; of what came late, something may be."""
        left = await _counts(self._database)
        gone = [name for name in names if not left.get(name)]
        unchanged = {**_THE_ONE, "revision": revision}
        await self._database[SPACES].update_one(unchanged, {"$pullAll": {"outdated": gone}})

    async def _give(self, one: Given, key: str, change: Document) -> bool:
        """Give one vector; what has it already, is gone or changed is left as it is."""
        which: Document = {"_id": identity(one.project_id, one.id), **_without(key)}
        names: Sequence[str] = (TURNS,)
        if one.revision is not None:
            which |= {"revision": one.revision, **_HELD}
            names = tuple(MEMORIES.values())
        for name in names:
            if (await self._database[name].update_one(which, change)).modified_count:
                self._database.announce(name, [which["_id"]])
                return True
        return False

    async def _some(self, name: str, wanted: Document, limit: int) -> list[Document]:
        found = self._database[name].find(wanted, _OF_A_TURN).sort("_id", ASCENDING)
        return await found.limit(limit).to_list()

    async def _before(self, turns: Sequence[Document]) -> Mapping[Any, str]:
        """Return the ids of the turns before these, of the same snapshots, by their places."""
        wanted = [
            {
                "project_id": turn["project_id"],
                "session_id": turn["session_id"],
                "turn_seq": turn["turn_seq"] - 1,
                "snapshot_id": turn["snapshot_id"],
            }
            for turn in turns
            if turn.get("snapshot_id") is not None
        ]
        if not wanted:
            return {}
        found = self._database[TURNS].find({"$or": wanted}, _OF_A_TURN)
        return {(*_session_of(one), one["turn_seq"]): one["id"] async for one in found}

    async def _stored(self, session: Session) -> Mapping[str, Any]:
        return await self._database[SPACES].find_one(_THE_ONE, session=session) or _NEW

    async def _note(
        self,
        session: Session,
        stored: Mapping[str, Any],
        ahead: SpacesInUse,
        now: datetime,
        *,
        total: int = 0,
    ) -> int:
        """Remember other spaces; what was of them before is outdated. Returns the revision."""
        kept = {one.space for one in (ahead.active, ahead.target) if one is not None}
        former = {one["space"] for one in (stored["active"], stored["target"]) if one is not None}
        revision = int(stored["revision"]) + 1
        values = {
            "active": _written(ahead.active),
            "target": _written(ahead.target),
            "revision": revision,
            "changed_at": to_micros(now),
            "done": 0,
            "refused": 0,
            "total": total,
            "outdated": sorted({*former, *stored["outdated"]} - kept),
        }
        try:
            await self._database[SPACES].replace_one(_THE_ONE, values, upsert=True, session=session)
        except DuplicateKeyError as error:  # another server was the first to note anything
            raise overtaken(error) from error
        return revision


async def look(database: MongoDatabase, *, counted: bool = False) -> SpacesInUse:
    """Return what is noted, and with `counted` how many vectors each space has."""
    with database.translated():
        spaces = _spaces(await database[SPACES].find_one(_THE_ONE) or _NEW)
        return replace(spaces, vectors=await _counts(database)) if counted else spaces


async def _counts(database: MongoDatabase) -> Mapping[str, int]:
    """Count the vectors of every space: it takes as long as reading them all."""
    counts: dict[str, int] = {}
    pipeline: list[Document] = [
        {"$match": {"has_embedding": True}},
        {"$project": {"_id": 0, "held": {"$objectToArray": "$vectors"}}},
        {"$unwind": "$held"},
        {"$group": {"_id": "$held.k", "vectors": {"$sum": 1}}},
    ]
    for name in COLLECTIONS:
        async for row in await database[name].aggregate(pipeline):
            space = space_of_key(row["_id"])
            counts[space] = counts.get(space, 0) + int(row["vectors"])
    return counts


def _without(key: str) -> Document:
    """Return what is so of a document that has no vector of a space, though it could."""
    return {
        f"vectors.{key}": {"$exists": False},
        "refused": {"$ne": key},
    }


def _missing(place: int, found: Document, before: Mapping[Any, str]) -> Missing:
    is_turn = COLLECTIONS[place] == TURNS
    at = (*_session_of(found), found["turn_seq"] - 1) if is_turn else None
    return Missing(
        project_id=found["project_id"],
        id=found["id"],
        is_turn=is_turn,
        follows=before.get(at) if found.get("snapshot_id") is not None else None,
        place=json.dumps([place, found["project_id"], found["id"]]),
    )


def _session_of(turn: Document) -> tuple[str, str, str | None]:
    return turn["project_id"], turn["session_id"], turn.get("snapshot_id")


def _spaces(stored: Mapping[str, Any]) -> SpacesInUse:
    active, target = _model(stored["active"]), _model(stored["target"])
    vectors = dict.fromkeys(stored["outdated"], 1)
    if active is not None and target is not None:
        vectors |= {active.space: stored["total"], target.space: stored["done"]}
    return SpacesInUse(
        active=active,
        target=target,
        revision=int(stored["revision"]),
        changed_at=maybe_moment(stored["changed_at"]),
        vectors=vectors,
        refused=int(stored["refused"]),
    )


def _model(stored: Mapping[str, Any] | None) -> EmbeddingConfig | None:
    if stored is None:
        return None
    return EmbeddingConfig(**{name: value for name, value in stored.items() if name != "space"})


def _written(model: EmbeddingConfig | None) -> Document | None:
    return None if model is None else {**asdict(model), "space": model.space}
