"""The store: every port over one database of a MongoDB deployment."""

from collections.abc import Mapping
from typing import Any

from memory_server.domain.scope import Scope
from memory_server.ports.accounts import Accounts
from memory_server.ports.clock import Clock
from memory_server.ports.jobs import Jobs
from memory_server.ports.members import Members
from memory_server.ports.memories import Memories
from memory_server.ports.projects import Projects
from memory_server.ports.search import SearchIndex
from memory_server.ports.snapshots import Snapshots
from memory_server.ports.store import Store
from memory_server.ports.turns import Turns
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.schema import migrate


class MongoStore(Store):
    """Records in a database that other servers use too."""

    def __init__(self, database: MongoDatabase, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @property
    def turns(self) -> Turns:
        raise NotImplementedError

    @property
    def snapshots(self) -> Snapshots:
        raise NotImplementedError

    @property
    def memories(self) -> Memories:
        raise NotImplementedError

    @property
    def jobs(self) -> Jobs:
        raise NotImplementedError

    @property
    def accounts(self) -> Accounts:
        raise NotImplementedError

    @property
    def projects(self) -> Projects:
        raise NotImplementedError

    @property
    def members(self) -> Members:
        raise NotImplementedError

    @property
    def search(self) -> SearchIndex:
        raise NotImplementedError

    async def open(self) -> None:
        await self._database.open()
        await migrate(self._database)

    async def take_over(self) -> None:
        """Do nothing: other servers may be at work on what is leased."""

    async def close(self) -> None:
        await self._database.close()

    async def ping(self) -> None:
        with self._database.translated():
            await self._database.client.admin.command("ping")

    async def describe(self) -> Mapping[str, Any]:
        return {"kind": "mongodb", "location": self._database.location}

    async def erase(self, scope: Scope) -> Mapping[str, int]:
        raise NotImplementedError
