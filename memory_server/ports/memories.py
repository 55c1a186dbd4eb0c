"""Long-term memory."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.filters import Filter
from memory_server.domain.job import Job
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.proposal import Proposal
from memory_server.domain.scope import Scope
from memory_server.domain.utterance import Utterance


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which memories of a scope: the AND of all that is not None."""

    type: MemoryType | None = None
    key: str | None = None
    """A label, a title, a procedure's name, `domain/term`."""
    domain: str | None = None
    identity_key: str | None = None
    subject: str | None = None
    attribute: str | None = None
    """Subject and attribute of the claim."""
    filter: Filter | None = None
    without_embedding: bool = False
    include_deleted: bool = False
    include_superseded: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """A memory that is new.

    Raises `DuplicateMemory` if its identity key lives already, or its id is taken.

    `history_of` names a memory of which this one is a former version: it must not be the
    latest, is part of that memory's history, is hidden while that one is deleted, and goes with
    it. Raises `VersionConflict` if that memory is gone.
    """

    memory: Memory
    vector: Vector | None = None
    history_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """A memory in a new state, under the same id.

    The stored revision must be `memory.revision - 1`, else `VersionConflict`. With
    `former_id` the stored state is kept beside it under that id: not latest, `superseded_by`
    the memory's id, `valid_to` the new state's `valid_from`. Without it, only counters,
    evidence, flags, or what was read out of an exchange change. The stored vector stays unless
    `vector` is given or `drop_vector` is set. A new visibility, and whether it is deleted, hold
    for every version of the memory.
    """

    memory: Memory
    former_id: str | None = None
    vector: Vector | None = None
    drop_vector: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    """A memory that goes for good, with all its versions and vectors."""

    memory_id: str


MemoryOperation = Add | Replace | Erase


class Memories(Protocol):
    """Keeps memories, all versions of them. Every read is limited by the scope it is given."""

    @abstractmethod
    async def get(self, scope: Scope, memory_id: str) -> Memory:
        """Return one memory, deleted or superseded ones too, or raise `MemoryNotFound`."""
        ...

    @abstractmethod
    async def get_many(self, scope: Scope, ids: Sequence[str]) -> Sequence[Memory]:
        """Return those of these memories that the scope allows, in the order of the ids."""
        ...

    @abstractmethod
    async def utterances(self, scope: Scope, ids: Sequence[str]) -> Sequence[Utterance]:
        """Return what was said in blocks of these ids, for less than `get_many` of them.

        One block of each exchange is read: the others of it are taken to be there as well.
        """
        ...

    @abstractmethod
    async def find(self, scope: Scope, query: MemoryQuery) -> Sequence[Memory]:
        """Return matching memories, live before others, then the newest (by update) first."""
        ...

    @abstractmethod
    async def history(self, scope: Scope, memory_id: str) -> Sequence[Memory]:
        """Return every version of a memory, the oldest first, or raise `MemoryNotFound`."""
        ...

    @abstractmethod
    async def histories(
        self, scope: Scope, memory_ids: Sequence[str]
    ) -> Mapping[str, Sequence[Memory]]:
        """Return the histories of memories by their ids, in one read.

        An id that the scope does not have, or that is a former version's, is left out.
        """
        ...

    @abstractmethod
    async def domains(self, scope: Scope) -> Sequence[str]:
        """Return the domains that live terms of the scope have, sorted."""
        ...

    @abstractmethod
    async def counts(self, scope: Scope) -> Mapping[str, int]:
        """Count the live memories of the scope by `Memory.type_name`; types without any are out."""
        ...

    @abstractmethod
    async def apply(
        self,
        project_id: str,
        operations: Sequence[MemoryOperation],
        *,
        space: EmbeddingSpace | None = None,
        settling: Job | None = None,
        queueing: Sequence[Job] = (),
        deciding: Proposal | None = None,
    ) -> None:
        """Carry out all operations or none, in one durable transaction.

        `settling` is a claimed job that these operations finish: it becomes done, with its
        `result`, in the same transaction; if its lease was lost, `LeaseLost` is raised and
        nothing is written. `queueing` are jobs that are queued with them, as `Jobs.enqueue` does.
        `deciding` is a proposal in a new state, which is stored with them as `Proposals.put` does.
        `space` names the space of the vectors and is needed with them.
        Reads and searches that begin afterwards see the outcome.
        """
        ...
