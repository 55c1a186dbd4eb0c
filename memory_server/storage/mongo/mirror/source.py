"""What the mirror reads: the documents of turns and memories, as they are stored now."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection as SizedIterable
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import bson
from bson.binary import Binary
from bson.codec_options import CodecOptions
from pymongo import ASCENDING, ReadPreference
from pymongo.asynchronous.cursor import AsyncRawBatchCursor

from memory_server.search.atlas.documents import MOMENTS
from memory_server.search.local import documents as index
from memory_server.search.local.entries import turn_entry
from memory_server.search.local.vectors import SpacedVector
from memory_server.storage.mongo.collections import MEMORIES, TURNS
from memory_server.storage.mongo.database import Collection, MongoDatabase
from memory_server.storage.mongo.documents import Document, identity, named, space_of_key, unpacked
from memory_server.storage.mongo.memory_documents import entry_of
from memory_server.storage.mongo.mirror.marks import Key
from memory_server.storage.mongo.together import together
from memory_server.storage.mongo.turn_documents import turn_of

UNREAD = {"fields": 0, "text": 0, MOMENTS: 0, "tool_calls": 0}
"""What of the documents no index entry is made of."""
CODEC: CodecOptions[Document] = CodecOptions(tz_aware=True)

Batches = AsyncRawBatchCursor[Document]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A document of the index with its vectors."""

    document: index.Document
    vectors: Sequence[SpacedVector] = ()
    promoted: bool = False
    """Of a turn: whether it is part of a snapshot."""


class Source(Protocol):
    """Where the mirror reads. What a method returns is as new as the call, but for pages."""

    collections: Sequence[str]

    @abstractmethod
    async def fetch(self, keys: Iterable[Key]) -> Mapping[Key, Document]:
        """Return these documents; those that are gone are left out."""
        ...

    @abstractmethod
    async def page(
        self, collection: str, *, after: Key | None, limit: int
    ) -> Mapping[Key, Document]:
        """Return the next documents of a collection, in an order that never changes.

        They are as they were at some moment since the first page was asked for.
        """
        ...

    @abstractmethod
    async def existing(self, keys: Iterable[Key]) -> SizedIterable[Key]:
        """Return those of these that are stored."""
        ...

    @abstractmethod
    async def size(self) -> int:
        """Return about how many documents there are."""
        ...

    @abstractmethod
    def entry(self, key: Key, document: Document) -> Entry:
        """Return what the index is told of a document. May run in any thread."""
        ...


class StoredDocuments(Source):
    """Reads the primary: what a majority has, which is all that was acknowledged or told of."""

    collections: Sequence[str] = (TURNS, *MEMORIES.values())

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._reading: tuple[Key, Batches] | None = None

    async def fetch(self, keys: Iterable[Key]) -> Mapping[Key, Document]:
        return await self._found(keys, UNREAD)

    async def page(
        self, collection: str, *, after: Key | None, limit: int
    ) -> Mapping[Key, Document]:
        reading, self._reading = self._reading, None
        with self._database.translated():
            if reading is not None and reading[0] == after:
                batches = reading[1]
            else:
                if reading is not None:
                    await reading[1].close()
                batches = self._batches(collection, after, limit)
            found: Mapping[Key, Document] = {}
            async for batch in batches:
                raw = cast("bytes", batch)  # the driver says that it were a document
                found = _keyed(collection, bson.decode_all(raw, CODEC))
                if found:
                    break
        if found:
            *_, last = found
            self._reading = last, batches
        return found

    async def existing(self, keys: Iterable[Key]) -> SizedIterable[Key]:
        return (await self._found(keys, {"_id": 1})).keys()

    async def size(self) -> int:
        with self._database.translated():
            return sum(
                [await self._primary(name).estimated_document_count() for name in self.collections]
            )

    def entry(self, key: Key, document: Document) -> Entry:
        vectors = [_spaced(name, data) for name, data in (document.get("vectors") or {}).items()]
        if key.collection != TURNS:
            return Entry(document=entry_of(document), vectors=vectors)
        turn = turn_of({"tool_calls": None, **document})
        return Entry(
            document=turn_entry(turn, turn.turn_seq),
            vectors=vectors,
            promoted=turn.snapshot_id is not None,
        )

    async def _found(
        self, keys: Iterable[Key], projection: Mapping[str, int]
    ) -> dict[Key, Document]:
        ids: defaultdict[str, list[str]] = defaultdict(list)
        for key in keys:
            ids[key.collection].append(identity(key.project_id, key.id))

        async def of(collection: str, among: list[str]) -> Mapping[Key, Document]:
            found = self._primary(collection).find({"_id": {"$in": among}}, projection)
            return _keyed(collection, await found.to_list())

        with self._database.translated():
            answers = await together(of(name, among) for name, among in ids.items())
        return {key: document for answer in answers for key, document in answer.items()}

    def _batches(self, collection: str, after: Key | None, size: int) -> Batches:
        """Read on after a document; one question for all, of which each batch is a portion."""
        wanted = {} if after is None else {"_id": {"$gt": identity(after.project_id, after.id)}}
        return self._primary(collection).find_raw_batches(
            wanted, UNREAD, sort=[("_id", ASCENDING)], batch_size=size
        )

    def _primary(self, collection: str) -> Collection:
        return self._database[collection].with_options(read_preference=ReadPreference.PRIMARY)


def key_of(collection: str, document_id: Any) -> Key | None:
    """Return what a document's `_id` names, None for one that this program never gave."""
    if isinstance(document_id, str) and "/" in document_id:
        return Key(collection, *named(document_id))
    return None


def _keyed(collection: str, documents: Iterable[Document]) -> Mapping[Key, Document]:
    keyed = ((key_of(collection, document["_id"]), document) for document in documents)
    return {key: document for key, document in keyed if key is not None}


def _spaced(name: str, data: Binary) -> SpacedVector:
    vector = unpacked(data)
    return SpacedVector(space_of_key(name), len(vector), vector.tobytes())
