"""The embedding spaces of a store, and the way from one to another."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.job import Job
from memory_server.domain.spaces import SpacesInUse
from memory_server.project_config import EmbeddingConfig


class BareTurns(StrEnum):
    """Which turns miss a vector though they have none of any space: no model was there for them."""

    NONE = "none"
    PROMOTED = "promoted"
    """Others get theirs when they are promoted."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A turn, or a version of a memory, that is to have a vector of a space and has none."""

    project_id: str
    id: str
    is_turn: bool
    follows: str | None = None
    """Of a turn: the id of the one before it, where both were promoted together."""
    place: str
    """Where it stands among all others: what comes after it is asked for by this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A vector for what missed one; None: the model cannot embed its text."""

    project_id: str
    id: str
    vector: Vector | None
    revision: int | None = None
    """Of a memory: the state whose text was embedded. One that changed since is left out."""


class Switch(StrEnum):
    """How an attempt to switch ended."""

    DONE = "done"
    MISSING = "missing"
    """Something has no vector of the target yet."""
    CHANGED = "changed"
    """There is another target now, or none."""


class Spaces(Protocol):
    """Remembers which model's vectors answer; vectors of two spaces are never mixed."""

    @abstractmethod
    async def look(self, *, counted: bool = False) -> SpacesInUse:
        """Return the spaces, with the numbers of vectors that are at hand.

        Of a re-embedding under way they are; those of outdated vectors may stand for any number.
        `counted`: each space's are counted, which may take as long as reading them.
        """
        ...

    @abstractmethod
    async def declare(self, embedding: EmbeddingConfig, *, now: datetime) -> SpacesInUse:
        """Note whose vectors answer, where no vector says otherwise.

        That is where none was noted, where nothing has a vector, and where it is another way to
        the vectors of the same space. Otherwise nothing changes.
        """
        ...

    @abstractmethod
    async def begin(self, target: EmbeddingConfig, job: Job, *, now: datetime) -> SpacesInUse:
        """Note the target and queue the job that reaches it, in one durable transaction.

        The job becomes that of the new revision: `spaces.job_of`. A target of the same space is
        kept, with its job.
        """
        ...

    @abstractmethod
    async def cancel(self, *, now: datetime) -> SpacesInUse:
        """Give the target up; what answers goes on. Its vectors are outdated from then on."""
        ...

    @abstractmethod
    async def missing(
        self,
        space: str,
        *,
        after: str | None = None,
        limit: int,
        bare: BareTurns = BareTurns.NONE,
    ) -> Sequence[Missing]:
        """Return what has a vector of another space and none of this one, in a fixed order.

        With `bare`, also turns that have none at all. What is added meanwhile may come before
        `after`: it is found when asked from the beginning. Texts that the space's model cannot
        embed are left out.
        """
        ...

    @abstractmethod
    async def give(self, vectors: Sequence[Given], space: EmbeddingSpace) -> None:
        """Keep vectors of a space beside those of others.

        What is gone, a memory that has no vector any more or was changed since is left out.
        """
        ...

    @abstractmethod
    async def switch(self, settling: Job, *, now: datetime) -> Switch:
        """Let the target answer if no vector is without one of it, in one durable transaction.

        What another server writes in that very moment may miss a vector of it afterwards.

        `settling` is the claimed job that led there: it becomes done with its `result`; if its
        lease was lost, `LeaseLost` is raised and nothing changes.
        """
        ...

    @abstractmethod
    async def drop(self, *, limit: int) -> int:
        """Remove some outdated vectors; return how many.

        One that is the only vector of its text stays, unless the model that answers cannot embed
        that text: it then has no vector any more.
        """
        ...
