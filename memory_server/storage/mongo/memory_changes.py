"""Long-term memory in MongoDB: writing.

A memory and its former versions belong together: whoever changes any of them writes the memory's
own document too, so that two transactions about it are in each other's way.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bson.binary import Binary
from pymongo.errors import BulkWriteError, DuplicateKeyError

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.memory import Memory, MemoryType
from memory_server.errors import DuplicateMemory, MemoryNotFound, VersionConflict
from memory_server.ports.memories import Add, Erase, MemoryOperation, Replace
from memory_server.search.local.vectors import spaced
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import MEMORIES
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity, packed, space_key
from memory_server.storage.mongo.memory_documents import (
    collection_of,
    former_document,
    in_all_collections,
    memory_document,
    memory_values,
)

_STANDING = {"root_id": 1, "visibility": 1, "deleted": 1}
"""What a change may have to be handed on to a memory's other versions."""
_DUPLICATE_KEY = 11000

Vectors = Mapping[str, Binary]
"""By the names of their fields."""


@dataclass(frozen=True, slots=True)
class _Former:
    """A document that joins the history of a memory."""

    memory: Memory
    document: Document
    history_of: str


@dataclass(frozen=True, slots=True)
class _Change:
    """An update of a memory's document."""

    replace: Replace
    update: Document


class Changes:
    """The operations of one call, in their order, on one project.

    Raises `ValueError`, `WrongDimension` or `InvalidRequest` for what can never be stored.
    """

    def __init__(
        self,
        project_id: str,
        operations: Sequence[MemoryOperation],
        space: EmbeddingSpace | None,
    ) -> None:
        self._project_id = project_id
        self._space = space
        self._new = [one.memory for one in operations if isinstance(one, Add)]
        self._steps = [self._prepared(one) for one in operations]

    async def apply(self, database: MongoDatabase, session: Session) -> Mapping[str, list[str]]:
        """Carry them out; return the `_id`s of all that changed, by collection."""
        if self._new:
            first = min(memory.created_at for memory in self._new)
            shard = self._new[0].user_id or ""
            await gates.enter(database, session, self._project_id, shard, first)
        transaction = _Transaction(database, session, self._project_id)
        for kind, steps in groupby(self._steps, type):
            if kind is dict:
                await transaction.insert([step for step in steps if isinstance(step, dict)])
                continue
            for step in steps:
                await _carry_out(transaction, step)
        return transaction.changed

    def _prepared(self, operation: MemoryOperation) -> "_Step":
        match operation:
            case Erase(memory_id=memory_id):
                return memory_id
            case Add(memory=memory, vector=vector):
                self._check(memory)
                return self._added(operation, self._packed(vector))
            case Replace(memory=memory, vector=vector):
                self._check(memory)
                return _Change(operation, _update(operation, self._packed(vector)))

    def _check(self, memory: Memory) -> None:
        if memory.project_id != self._project_id:
            raise ValueError(f"memory {memory.id!r} belongs to another project")

    def _added(self, add: Add, vectors: Vectors) -> "Document | _Former":
        document = memory_document(add.memory, vectors=vectors)
        if add.history_of is None:
            return document
        if add.memory.is_latest:
            raise ValueError(f"memory {add.memory.id!r} is the latest, not a former version")
        return _Former(add.memory, document, add.history_of)

    def _packed(self, vector: Vector | None) -> Vectors:
        if vector is None:
            return {}
        return {space_key(spaced(vector, self._space).space): packed(vector)}


_Step = Document | _Former | _Change | str
"""A document to insert, a version to join to its memory, a change, the id of a memory to erase."""


async def _carry_out(transaction: "_Transaction", step: _Step) -> None:
    match step:
        case _Former():
            await transaction.join(step)
        case _Change():
            await transaction.replace(step)
        case str():
            await transaction.erase(step)


class _Transaction:
    """What one transaction does, and what it changed."""

    def __init__(self, database: MongoDatabase, session: Session, project_id: str) -> None:
        self._database = database
        self._session = session
        self._project_id = project_id
        self.changed: dict[str, list[str]] = defaultdict(list)

    async def insert(self, documents: Sequence[Document]) -> None:
        """Store new memories or versions."""
        by_collection: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            by_collection[MEMORIES[MemoryType(document["type"])]].append(document)
        for name, some in by_collection.items():
            with _identities_live_once():
                await self._database[name].insert_many(some, session=self._session)
            self.changed[name] += [document["_id"] for document in some]

    async def join(self, former: _Former) -> None:
        """Store a version in the history of its memory."""
        memory = former.memory
        root = await self._root(former.history_of)
        if root is None:
            raise VersionConflict(f"memory {former.history_of!r}, of which there was more, is gone")
        if (root["user_id"], root["type"]) != (memory.user_id, memory.type.value):
            raise ValueError(f"memory {memory.id!r} is of another owner or type than its memory")
        place = {"root_id": root["id"], "hidden": root["deleted"] or memory.deleted}
        await self.insert([former.document | place])

    async def replace(self, change: _Change) -> None:
        """Bring a memory into its new state, and its versions along."""
        memory, former_id = change.replace.memory, change.replace.former_id
        name = collection_of(memory)
        with _identities_live_once():
            stored = await self._database[name].find_one_and_update(
                {
                    "_id": identity(self._project_id, memory.id),
                    "revision": memory.revision - 1,
                },
                change.update,
                projection=_STANDING if former_id is None else None,
                session=self._session,
            )
        if stored is None:
            raise VersionConflict(
                f"memory {memory.id!r} is not at revision {memory.revision - 1} any more"
            )
        self.changed[name].append(identity(self._project_id, memory.id))
        if former_id is not None:
            await self.insert([former_document(stored, former_id, memory)])
        is_former = stored["root_id"] != memory.id
        stands = (stored["deleted"], stored["visibility"])
        if is_former or stands != (memory.deleted, memory.visibility.value):
            await self._follow(memory, stored["root_id"])

    async def erase(self, memory_id: str) -> None:
        """Remove a memory with all its versions."""
        versions = await self._in_all(
            [
                {"$match": {"project_id": self._project_id, "root_id": memory_id}},
                {"$project": {"type": 1}},
            ]
        )
        if not versions:
            raise MemoryNotFound(f"no memory {memory_id!r} to erase")
        for kind in {version["type"] for version in versions}:
            name = MEMORIES[MemoryType(kind)]
            gone = [version["_id"] for version in versions if version["type"] == kind]
            await self._database[name].delete_many({"_id": {"$in": gone}}, session=self._session)
            self.changed[name] += gone

    async def _root(self, memory_id: str) -> Document | None:
        """Return the memory to whose history a version belongs, and keep others from it."""
        known = await self._in_all(
            [
                {"$match": {"_id": identity(self._project_id, memory_id)}},
                {"$project": {"type": 1, "root_id": 1}},
            ]
        )
        if not known:
            return None
        return await self._database[MEMORIES[MemoryType(known[0]["type"])]].find_one_and_update(
            {"_id": identity(self._project_id, known[0]["root_id"])},
            {"$inc": {"joined": 1}},
            projection={"id": 1, "user_id": 1, "type": 1, "deleted": 1},
            session=self._session,
        )

    async def _follow(self, memory: Memory, root_id: str) -> None:
        """Let all versions be seen as far as their memory, and found while it is not deleted."""
        collection = self._database[collection_of(memory)]
        versions = {"project_id": self._project_id, "root_id": root_id}
        found = await collection.find(
            versions, {"id": 1, "deleted": 1}, session=self._session
        ).to_list()
        is_gone = any(one["deleted"] for one in found if one["id"] == root_id)
        stands = {
            "visibility": {"$literal": memory.visibility.value},
            "hidden": {"$literal": True} if is_gone else "$deleted",
        }
        await collection.update_many(versions, [{"$set": stands}], session=self._session)
        self.changed[collection.name] += [one["_id"] for one in found]

    async def _in_all(self, pipeline: list[Document]) -> list[Document]:
        name, whole = in_all_collections(pipeline)
        found = await self._database[name].aggregate(whole, session=self._session)
        return await found.to_list()


def _update(replace: Replace, vectors: Vectors) -> Document:
    values = memory_values(replace.memory) | {"hidden": replace.memory.deleted}
    if replace.vector is not None and replace.former_id is not None:
        # Those of other spaces are of the former content, and so is what had none.
        values |= {"vectors": vectors, "refused": []}
    elif replace.vector is not None:
        values |= {f"vectors.{key}": vector for key, vector in vectors.items()}
    elif replace.drop_vector:
        values |= {"vectors": {}, "refused": []}
    if replace.vector is not None or replace.drop_vector:
        values["has_embedding"] = replace.vector is not None
    return {"$set": values}


@contextmanager
def _identities_live_once() -> Iterator[None]:
    try:
        yield
    except (BulkWriteError, DuplicateKeyError) as error:
        for one in _duplicates(error):
            if "_id" in one.get("keyPattern", ()):
                raise DuplicateMemory(
                    f"memory {one['keyValue']['_id']!r} is there already; replace it instead"
                ) from error
            if "live_identity" in one.get("keyPattern", ()):
                raise DuplicateMemory(
                    f"a memory is live under the identity {one['keyValue']['live_identity']!r} "
                    "already; replace it instead"
                ) from error
        raise


def _duplicates(error: BulkWriteError | DuplicateKeyError) -> list[Mapping[str, Any]]:
    details = error.details or {}
    found = details.get("writeErrors", [details])
    return [one for one in found if one.get("code") == _DUPLICATE_KEY]
