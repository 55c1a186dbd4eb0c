"""Taking everything of a project out of a store, and into one again."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from memory_server.domain.archive import Contents, Item, Outcome


class Reading(Protocol):
    """What a project held at one moment, while it is read; to be closed by whoever began it."""

    @property
    @abstractmethod
    def spaces(self) -> Sequence[str]:
        """The names of the embedding spaces of the vectors that come, sorted."""
        ...

    @abstractmethod
    def portions(self) -> AsyncGenerator[Sequence[Item]]:
        """Yield the items in the order of their kinds, some at a time, in bounded memory.

        Memories come with a memory before its former versions, turns in the order in which they
        were recorded. Raises `StorageError` where that moment cannot be read any more, and says
        what to do.
        """
        ...

    @abstractmethod
    async def close(self) -> None:
        """Let the moment go; done again, nothing happens."""
        ...


class Archive(Protocol):
    """Reads whole projects at one moment, and takes in what was read, exactly."""

    @abstractmethod
    async def begin(self, contents: Contents) -> Reading:
        """Begin to read what a project holds now; what is written meanwhile is not held up."""
        ...

    @abstractmethod
    async def write(
        self,
        project_id: str,
        items: Sequence[Item],
        *,
        restore_erased: bool = False,
        dry_run: bool = False,
    ) -> Sequence[Outcome]:
        """Take items in under their own ids, all or none; return what became of each, in order.

        Doing it again changes nothing and answers `KNOWN`. What is there in another state that is
        not a later one, or has what must be unique, is left alone: `CONFLICT`. What is older than
        the erasure of its user is not written, unless it is to be restored. A running job waits
        again: a lease ends with its server. With `dry_run` nothing is written; a memory
        that a former version belongs to is then taken to come, if it is not there. Raises
        `ValueError` for an item of another project, `ProjectNotFound` if the project was removed.
        """
        ...
