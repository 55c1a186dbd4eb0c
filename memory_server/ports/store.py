"""The store: the system of record, one bundle of ports over one database."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import IO, Any, Protocol

from memory_server.domain.erasure import Traces
from memory_server.domain.scope import Scope
from memory_server.ports.accounts import Accounts
from memory_server.ports.archive import Archive
from memory_server.ports.attempts import Attempts
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
from memory_server.ports.turns import Turns


class Store(Protocol):
    """Everything that is kept.

    Durable: what a method has returned from survives a killed process and a crashed machine.
    Errors of the driver never pass; they become `StorageError`s.
    """

    @property
    @abstractmethod
    def turns(self) -> Turns:
        """Short-term memory."""
        ...

    @property
    @abstractmethod
    def snapshots(self) -> Snapshots:
        """Runs of turns on their way to long-term memory."""
        ...

    @property
    @abstractmethod
    def memories(self) -> Memories:
        """Long-term memory."""
        ...

    @property
    @abstractmethod
    def proposals(self) -> Proposals:
        """What waits to be remembered until somebody decides."""
        ...

    @property
    @abstractmethod
    def jobs(self) -> Jobs:
        """Background work."""
        ...

    @property
    @abstractmethod
    def accounts(self) -> Accounts:
        """Service accounts."""
        ...

    @property
    @abstractmethod
    def projects(self) -> Projects:
        """Projects."""
        ...

    @property
    @abstractmethod
    def members(self) -> Members:
        """People and their logins."""
        ...

    @property
    @abstractmethod
    def executions(self) -> Executions:
        """Invocations of agents."""
        ...

    @property
    @abstractmethod
    def attempts(self) -> Attempts:
        """How often credentials were tried."""
        ...

    @property
    @abstractmethod
    def servers(self) -> Servers:
        """Who is at work on the store."""
        ...

    @property
    @abstractmethod
    def search(self) -> SearchIndex:
        """The index over turns and memories."""
        ...

    @property
    @abstractmethod
    def spaces(self) -> Spaces:
        """Which embedding model answers, and the way to another."""
        ...

    @property
    @abstractmethod
    def spending(self) -> Spending:
        """What projects have taken of models."""
        ...

    @property
    @abstractmethod
    def archive(self) -> Archive:
        """Whole projects, out and in."""
        ...

    @abstractmethod
    async def open(self) -> None:
        """Make the database usable: lock it, migrate it. Usable again after `close`."""
        ...

    @abstractmethod
    async def take_over(self) -> None:
        """Let the work that a process before this one had begun be claimed at once.

        For a process that starts, once the store is open. Does nothing where other servers may
        be at work on the same store: there the leases of those that are gone run out.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """Finish what was begun and let the database go."""
        ...

    @abstractmethod
    async def ping(self) -> None:
        """Return if the database answers and takes writes, else raise `StorageError`.

        Whether it takes writes is tried every few seconds at the most.
        """
        ...

    @abstractmethod
    async def describe(self) -> Mapping[str, Any]:
        """Return what readiness reports: `kind`, `location`, `schema_version`, sizes."""
        ...

    @abstractmethod
    async def copy(self) -> IO[bytes]:
        """Return a consistent copy of the whole store as a file, open to be read.

        What is written meanwhile is not held up. The file has no name and goes when it is closed.
        Raises `NoBackup`, with what to do instead, where the store is not one file.
        """
        ...

    @abstractmethod
    async def erase(self, scope: Scope) -> Mapping[str, int]:
        """Delete everything of the scope's user, of no user, or of the whole project.

        Turns, sessions, snapshots, jobs, proposals, memories in all versions, vectors and index
        entries, and executions; what runs of these is stopped by the server that works on it.
        What waits of others in a shared session can still be promoted. Returns counts by kind.
        That it happened is written down, so that an archive from before does not bring it back.
        Where removing the traces from the disk would take long, `traces` tells of them. Where it
        fails, a `StorageError` says so of what is deleted all the same, and the same call tries
        again.
        """
        ...

    @abstractmethod
    async def traces(self) -> Traces:
        """Return whether what was erased may still be read from the disk."""
        ...

    @abstractmethod
    async def remove_traces(self) -> None:
        """Leave nothing of what was erased where it was stored; writes may wait meanwhile."""
        ...
