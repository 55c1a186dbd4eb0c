"""One database of a MongoDB deployment: connecting, transactions, and who hears of changes."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from bson.codec_options import CodecOptions
from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.read_concern import ReadConcern

from memory_server.errors import StorageUnavailable
from memory_server.storage.mongo.documents import Document
from memory_server.storage.mongo.failures import translated

T = TypeVar("T")

Session = AsyncClientSession
Collection = AsyncCollection[Document]
Listener = Callable[[str, Sequence[Document]], None]
"""Is told, after a commit, in which collection the documents with these `_id`s changed."""

SELECTION_MS = 5_000
"""How long a call waits for the deployment to have a primary."""
CALL_MS = 20_000
TRANSACTION_SECONDS = 20.0
"""How long a transaction is tried again while others keep in its way."""


class MongoDatabase:
    """A database that several servers share.

    What is written is acknowledged by a majority, and what is read was; so nothing that a call
    returned, or was given, is undone by a change of the primary.
    """

    def __init__(self, uri: str, name: str) -> None:
        self._uri = uri
        self._name = name
        self._client: AsyncMongoClient[Document] | None = None
        self._listeners: list[Listener] = []

    @property
    def name(self) -> str:
        """The name of the database."""
        return self._name

    @property
    def location(self) -> str:
        """Where the data is, for people: hosts and database, never a credential."""
        return f"mongodb {self._name}"

    @property
    def client(self) -> AsyncMongoClient[Document]:
        """The open client."""
        if self._client is None:
            raise StorageUnavailable(f"{self.location}: the store is not open")
        return self._client

    @property
    def database(self) -> AsyncDatabase[Document]:
        """The database itself."""
        return self.client.get_database(
            self._name,
            codec_options=CodecOptions(tz_aware=True),
            write_concern=WriteConcern("majority"),
            read_concern=ReadConcern("majority"),
        )

    def __getitem__(self, collection: str) -> Collection:
        """Return a collection."""
        return self.database[collection]

    async def open(self) -> None:
        """Connect."""
        if self._client is not None:
            return
        with translated(self.location):
            client: AsyncMongoClient[Document] = AsyncMongoClient(
                self._uri,
                appname="agentengine",
                serverSelectionTimeoutMS=SELECTION_MS,
                timeoutMS=CALL_MS,
            )
            try:
                await client.admin.command("ping")
            except BaseException:
                await client.close()
                raise
        self._client = client

    async def close(self) -> None:
        """Let the connections go."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def translated(self) -> AbstractContextManager[None]:
        """Return what is to be held around calls of the driver: its errors become our own."""
        return translated(self.location)

    async def transact(self, operation: Callable[[Session], Awaitable[T]]) -> T:
        """Carry out an operation in one transaction, wholly or not at all.

        It is begun anew, from its first line, while other transactions are in its way: it must
        do nothing but read and write by its session.
        """
        with translated(self.location):
            async with self.client.start_session() as session:
                return await session.with_transaction(
                    operation,
                    read_concern=ReadConcern("snapshot"),
                    write_concern=WriteConcern("majority"),
                )

    def listen(self, listener: Listener) -> None:
        """Tell a listener of every change that this server commits."""
        self._listeners.append(listener)

    def announce(self, collection: str, ids: Iterable[Mapping[str, Any]]) -> None:
        """Say, after a commit and before its caller is answered, what was changed."""
        changed = [dict(one) for one in ids]
        if changed:
            for listener in self._listeners:
                listener(collection, changed)
