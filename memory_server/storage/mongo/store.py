"""The store: every port over one database of a MongoDB deployment."""

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from memory_server.domain.erasure import Traces
from memory_server.domain.scope import Scope
from memory_server.errors import NoBackup, StorageError
from memory_server.ports.accounts import Accounts
from memory_server.ports.archive import Archive
from memory_server.ports.attempts import Attempts
from memory_server.ports.clock import Clock
from memory_server.ports.executions import Executions
from memory_server.ports.jobs import Jobs
from memory_server.ports.members import Members
from memory_server.ports.memories import Memories
from memory_server.ports.projects import Projects
from memory_server.ports.proposals import Proposals
from memory_server.ports.search import SearchIndex
from memory_server.ports.servers import Servers
from memory_server.ports.snapshots import Snapshots
from memory_server.ports.spaces import Spaces
from memory_server.ports.spending import Spending
from memory_server.ports.store import Store
from memory_server.ports.turns import Turns
from memory_server.search.local.index import VECTOR_MEMORY_BYTES
from memory_server.storage.mongo.accounts import MongoAccounts
from memory_server.storage.mongo.archive import MongoArchive
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.attempts import MongoAttempts
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.erasure import erase
from memory_server.storage.mongo.executions import MongoExecutions
from memory_server.storage.mongo.heartbeat import MongoHeartbeat
from memory_server.storage.mongo.jobs import MongoJobs
from memory_server.storage.mongo.members import MongoMembers
from memory_server.storage.mongo.memories import MongoMemories
from memory_server.storage.mongo.projects import MongoProjects
from memory_server.storage.mongo.proposals import MongoProposals
from memory_server.storage.mongo.schema import migrate
from memory_server.storage.mongo.search import ChosenIndex
from memory_server.storage.mongo.servers import MongoServers
from memory_server.storage.mongo.snapshots import MongoSnapshots
from memory_server.storage.mongo.spaces import MongoSpaces
from memory_server.storage.mongo.spending import MongoSpending
from memory_server.storage.mongo.turns import MongoTurns


class MongoStore(Store):
    """Records in a database that other servers use too."""

    def __init__(
        self,
        database: MongoDatabase,
        *,
        clock: Clock,
        directory: Path | None = None,
        vector_memory_bytes: int = VECTOR_MEMORY_BYTES,
    ) -> None:
        """Prepare the store; `directory` is where this server keeps its index, None: in memory."""
        self._database = database
        self._clock = clock
        self._version = 0
        self._heartbeat = MongoHeartbeat(database, clock)
        arrivals = Arrivals(clock)
        self._turns = MongoTurns(database, arrivals)
        self._snapshots = MongoSnapshots(database, arrivals)
        self._proposals = MongoProposals(database, clock)
        self._jobs = MongoJobs(database, arrivals)
        self._archive = MongoArchive(database, arrivals, clock)
        self._memories = MongoMemories(database, clock, arrivals)
        self._spaces = MongoSpaces(database, arrivals)
        self._spending = MongoSpending(database)
        self._accounts = MongoAccounts(database)
        self._projects = MongoProjects(database)
        self._members = MongoMembers(database)
        self._executions = MongoExecutions(database)
        self._attempts = MongoAttempts(database)
        self._servers = MongoServers(database)
        self._search = ChosenIndex(
            database,
            self._spaces,
            clock=clock,
            directory=directory,
            vector_memory_bytes=vector_memory_bytes,
        )

    @property
    def turns(self) -> Turns:
        return self._turns

    @property
    def snapshots(self) -> Snapshots:
        return self._snapshots

    @property
    def memories(self) -> Memories:
        return self._memories

    @property
    def proposals(self) -> Proposals:
        return self._proposals

    @property
    def jobs(self) -> Jobs:
        return self._jobs

    @property
    def accounts(self) -> Accounts:
        return self._accounts

    @property
    def projects(self) -> Projects:
        return self._projects

    @property
    def members(self) -> Members:
        return self._members

    @property
    def search(self) -> SearchIndex:
        return self._search

    @property
    def spaces(self) -> Spaces:
        return self._spaces

    @property
    def spending(self) -> Spending:
        return self._spending

    @property
    def executions(self) -> Executions:
        return self._executions

    @property
    def attempts(self) -> Attempts:
        return self._attempts

    @property
    def servers(self) -> Servers:
        return self._servers

    @property
    def archive(self) -> Archive:
        return self._archive

    async def open(self) -> None:
        await self._database.open()
        try:
            self._version = await migrate(self._database)
            await self._search.open()
        except StorageError as error:  # nobody is to use what is half open
            await self._search.close()
            await self._database.close(error)
            raise

    async def take_over(self) -> None:
        """Do nothing: other servers may be at work on what is leased."""

    async def close(self) -> None:
        await self._search.close()
        await self._database.close()

    async def ping(self) -> None:
        await self._database.greet()
        await self._heartbeat.check()

    async def describe(self) -> Mapping[str, Any]:
        self._database.check_open()
        return {
            "kind": "mongodb",
            "location": self._database.hosts,
            "database": self._database.name,
            "schema_version": self._version,
        }

    async def erase(self, scope: Scope) -> Mapping[str, int]:
        return await erase(self._database, scope, self._clock.now())

    async def copy(self) -> IO[bytes]:
        raise NoBackup(
            "this store is a MongoDB deployment, which is not copied by a memory server: use "
            "mongodump, or your deployment's backups; for what one project remembers, "
            "agentengine memory export"
        )

    async def traces(self) -> Traces:
        return Traces.LEFT if await self._search.has_traces() else Traces.NONE

    async def remove_traces(self) -> None:
        """Remove those of this server's index; the deployment reuses its space by itself."""
        await self._search.remove_traces()
