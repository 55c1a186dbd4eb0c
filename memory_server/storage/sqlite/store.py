"""The store: every port over one SQLite database."""

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from memory_server.domain.erasure import Traces
from memory_server.domain.scope import Scope
from memory_server.errors import StorageError
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
from memory_server.search.local.index import VECTOR_MEMORY_BYTES, LocalIndex
from memory_server.storage.process.attempts import ProcessAttempts
from memory_server.storage.process.executions import ProcessExecutions
from memory_server.storage.process.servers import ProcessServers
from memory_server.storage.sqlite.accounts import SqliteAccounts
from memory_server.storage.sqlite.archive import SqliteArchive
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.erasure import erase, has_traces, remove_traces
from memory_server.storage.sqlite.heartbeat import Heartbeat
from memory_server.storage.sqlite.jobs import SqliteJobs
from memory_server.storage.sqlite.members import SqliteMembers
from memory_server.storage.sqlite.memories import SqliteMemories
from memory_server.storage.sqlite.projects import SqliteProjects
from memory_server.storage.sqlite.proposals import SqliteProposals
from memory_server.storage.sqlite.schema import migrations
from memory_server.storage.sqlite.snapshots import SqliteSnapshots
from memory_server.storage.sqlite.spaces import SqliteSpaces
from memory_server.storage.sqlite.spending import SqliteSpending
from memory_server.storage.sqlite.turns import SqliteTurns

REWRITTEN_AT_ONCE_BYTES = 32 * 1024 * 1024
"""Of a file; it takes under a second."""


class SqliteStore(Store):
    """Records and index in one file; with no path, in memory until it is closed."""

    def __init__(
        self,
        path: Path | None,
        *,
        clock: Clock,
        vector_memory_bytes: int = VECTOR_MEMORY_BYTES,
        rewritten_at_once_bytes: int = REWRITTEN_AT_ONCE_BYTES,
    ) -> None:
        """Prepare the store; `vector_memory_bytes` bounds what the index keeps in memory.

        A file of up to `rewritten_at_once_bytes` is written anew before an erasure is answered.
        """
        self._clock = clock
        self._rewritten_at_once_bytes = rewritten_at_once_bytes
        self._database = Database(path, migrations())
        self._turns = SqliteTurns(self._database)
        self._snapshots = SqliteSnapshots(self._database)
        self._memories = SqliteMemories(self._database, clock)
        self._proposals = SqliteProposals(self._database, clock)
        self._jobs = SqliteJobs(self._database)
        self._accounts = SqliteAccounts(self._database)
        self._projects = SqliteProjects(self._database)
        self._members = SqliteMembers(self._database)
        self._executions = ProcessExecutions()
        self._attempts = ProcessAttempts()
        self._servers = ProcessServers()
        self._spaces = SqliteSpaces(self._database)
        self._spending = SqliteSpending(self._database)
        self._archive = SqliteArchive(self._database)
        self._heartbeat = Heartbeat(self._database, clock)
        self._search = LocalIndex(self._database, vector_memory_bytes=vector_memory_bytes)

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

    async def take_over(self) -> None:
        await self._jobs.end_leases(self._clock.now())

    async def close(self) -> None:
        await self._database.close()
        self._search.forget()
        self._projects.forget()
        self._heartbeat.forget()

    async def ping(self) -> None:
        await self._heartbeat.check()
        await self._database.read(lambda db: db.execute("SELECT 1 FROM sessions").fetchone())

    async def describe(self) -> Mapping[str, Any]:
        return {
            "kind": "sqlite",
            "location": self._database.location,
            "schema_version": self._database.schema_version,
            "size_bytes": self._database.size_bytes(),
            "traces": (await self.traces()).value,
        }

    async def copy(self) -> IO[bytes]:
        return await self._database.copy()

    async def erase(self, scope: Scope) -> Mapping[str, int]:
        now = self._clock.now()
        counts = await erase(self._database, scope, now)
        is_small = self._database.size_bytes() <= self._rewritten_at_once_bytes
        if is_small and not self._database.is_held:
            try:
                await self._database.alone(remove_traces)
            except StorageError as error:
                raise type(error)(
                    "all of it was erased and is found no more, but its traces are still in the "
                    f"file ({error}); erase once more to remove them"
                ) from error
        return {**counts, "executions": self._executions.erase(scope)}

    async def traces(self) -> Traces:
        return Traces.LEFT if await self._database.read(has_traces) else Traces.NONE

    async def remove_traces(self) -> None:
        if await self.traces() is Traces.LEFT and not self._database.is_held:
            await self._database.alone(remove_traces)
