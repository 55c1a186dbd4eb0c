"""One database of a MongoDB deployment: connecting, transactions, and who hears of changes."""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from datetime import datetime
from typing import Any, TypeVar

import pymongo
from bson.codec_options import CodecOptions
from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import ConfigurationError, InvalidURI
from pymongo.read_concern import ReadConcern

from memory_server.errors import StorageError, StorageUnavailable, StorageUnusable
from memory_server.project_config import connection_strings
from memory_server.storage.mongo.clock import DatabaseClock
from memory_server.storage.mongo.documents import Document
from memory_server.storage.mongo.failures import standalone, too_old, translated, unusable
from memory_server.storage.mongo.naming import candidates, database_name

T = TypeVar("T")

Session = AsyncClientSession
Collection = AsyncCollection[Document]
Listener = Callable[[str, Sequence[str]], None]
"""Is told, after a commit, in which collection the documents with these `_id`s changed."""

SELECTION_MS = 5_000
"""How long a call waits for the deployment to have a primary."""
GREETING_SECONDS = 3.0
"""How long it may take to answer whether it is there; readiness waits no longer than 5 s."""
CALL_MS = 20_000
"""How long a call may take in all, and a transaction be tried again while others are in its way."""
WAIT_SECONDS = 20.0
"""How long a call waits at the most for others of this server, before it calls the database."""
AT_ONCE = 32
"""How many transactions of a server are under way; more would only be in each other's way."""
WIRE_VERSION = 17
"""Of MongoDB 6.0, the oldest that is supported."""


class MongoDatabase:
    """A database that several servers share.

    What is written is acknowledged by a majority, and what is read was; so nothing that a call
    returned, or was given, is undone by a change of the primary.
    """

    def __init__(
        self,
        uri: str,
        base: str,
        project_id: str = "",
        *,
        clock: DatabaseClock | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """Name it; nothing is connected yet.

        The base and the project make its name, by the rule of `naming`. The clock is compared
        with the database's whenever that is greeted.
        """
        self._uri = uri
        self._base = base
        self._project_id = project_id
        self._name = candidates(base, project_id)[0]
        self._clock = clock
        self._wait_seconds = wait_seconds
        self._client: AsyncMongoClient[Document] | None = None
        self._failure: StorageError | None = None
        self._listeners: list[Listener] = []
        self._room = asyncio.Semaphore(AT_ONCE)
        self._calls = 0
        self._idle = asyncio.Event()

    @property
    def name(self) -> str:
        """The name of the database."""
        return self._name

    @property
    def hosts(self) -> str:
        """Where the deployment is, by the names in the connection string."""
        return connection_strings.hosts_of(self._uri)

    @property
    def location(self) -> str:
        """Where the data is, for people: hosts and database, never a credential."""
        return f"mongodb at {self.hosts}, database {self._name}"

    def check_open(self) -> None:
        """Return if the database is open, else raise why it is not."""
        self.client  # noqa: B018 says so

    @property
    def client(self) -> AsyncMongoClient[Document]:
        """The open client."""
        if self._client is not None:
            return self._client
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))
        raise StorageUnavailable(f"{self.location}: the store is not open")

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
        """Connect, and choose the database.

        Raises `StorageUnusable` for what a person has to mend, and `StorageUnavailable` for a
        deployment that does not answer now.
        """
        if self._client is not None:
            return
        try:
            self._client = await self._connected()
        except StorageUnavailable as error:
            self._failure = error
            raise
        self._failure = None

    async def close(self, failure: StorageError | None = None) -> None:
        """Finish what was begun, then let the connections go.

        A failure is what whoever asks for the client is told afterwards.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(CALL_MS / 1000):
                while self._calls:
                    self._idle.clear()
                    await self._idle.wait()
        client, self._client = self._client, None
        self._failure = failure
        if client is not None:
            await client.close()

    async def greet(self) -> None:
        """Ask whether the primary answers, and what time it is there."""
        with self.translated(), pymongo.timeout(GREETING_SECONDS):
            await self._hello(self.client)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Hold around calls of the driver: its errors become ours, and `close` waits for them."""
        self._calls += 1
        try:
            with translated(self.location):
                yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def transact(self, operation: Callable[[Session], Awaitable[T]]) -> T:
        """Carry out an operation in one transaction, wholly or not at all.

        It is begun anew, from its first line, while other transactions are in its way: it must
        do nothing but read and write by its session.
        """
        with self.translated():
            async with self._entered(), self.client.start_session() as session:
                with pymongo.timeout(CALL_MS / 1000):
                    return await session.with_transaction(
                        operation,
                        read_concern=ReadConcern("snapshot"),
                        write_concern=WriteConcern("majority"),
                    )

    @asynccontextmanager
    async def within(
        self, waited_for: AbstractAsyncContextManager[None], what: str
    ) -> AsyncIterator[None]:
        """Hold something that others of this server may have, and wait for it for so long only.

        Raises `StorageUnavailable`, saying what was waited for.
        """
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await held.enter_async_context(waited_for)
            except TimeoutError:
                raise StorageUnavailable(
                    f"{self.location}: {what} for {self._wait_seconds:g} seconds; the same call "
                    "works when that is over"
                ) from None
            yield

    def _entered(self) -> AbstractAsyncContextManager[None]:
        return self.within(
            self._room, f"{AT_ONCE} other transactions of this server were under way"
        )

    def listen(self, listener: Listener) -> None:
        """Tell a listener of every change that this server commits."""
        self._listeners.append(listener)

    def announce(self, collection: str, ids: Iterable[str]) -> None:
        """Say, after a commit and before its caller is answered, what was changed."""
        changed = list(ids)
        if changed:
            for listener in self._listeners:
                listener(collection, changed)

    async def _connected(self) -> AsyncMongoClient[Document]:
        client = self._made()
        try:
            with self.translated():
                self._judge(await self._hello(client))
                await self._choose(client)
        except BaseException:
            await client.close()
            raise
        return client

    def _made(self) -> AsyncMongoClient[Document]:
        place = f"mongodb at {self.hosts}"
        if problem := connection_strings.problem_of(self._uri):
            raise StorageUnusable(f"{place}: MONGODB_URI cannot be used: {problem}")
        try:
            return AsyncMongoClient(
                self._uri,
                appname="agentengine",
                serverSelectionTimeoutMS=SELECTION_MS,
                timeoutMS=CALL_MS,
            )
        except (InvalidURI, ConfigurationError, ValueError, TypeError):
            raise unusable(place) from None  # what they say may quote it

    async def _hello(self, client: AsyncMongoClient[Document]) -> Document:
        asked = None if self._clock is None else self._clock.own()
        answer: Document = await client.admin.command("hello")
        told: datetime | None = answer.get("localTime")
        if self._clock is not None and asked is not None and told is not None:
            told = told.replace(tzinfo=asked.tzinfo)
            self._clock.compare(asked=asked, told=told, answered=self._clock.own())
        return answer

    def _judge(self, hello: Mapping[str, Any]) -> None:
        if hello.get("maxWireVersion", 0) < WIRE_VERSION:
            raise too_old(self.location)
        if "setName" not in hello and hello.get("msg") != "isdbgrid":
            raise standalone(self.location)

    async def _choose(self, client: AsyncMongoClient[Document]) -> None:
        if len(candidates(self._base, self._project_id)) > 1:
            existing = await client.list_database_names()
            self._name = database_name(self._base, self._project_id, existing)
        else:  # says at once whether the user may use it
            await client[self._name].list_collection_names()
