"""Where projects are kept."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory_server.domain.project import Project


class Projects(Protocol):
    """Keeps projects. Ids and names are unique."""

    @abstractmethod
    async def add(self, project: Project) -> None:
        """Store a new project; raise `DuplicateName` if its id or its name is taken.

        It begins with nothing: raises `ProjectNotEmpty` if memory of a former project of that
        id is left; credentials that are left are removed.
        """
        ...

    @abstractmethod
    async def adopt(self, project: Project) -> None:
        """Store a project with all that has its id already; one that is stored is left alone."""
        ...

    @abstractmethod
    async def find(self, project_id: str) -> Project | None:
        """Return the project with that id, or None."""
        ...

    @abstractmethod
    async def list(self) -> Sequence[Project]:
        """Return all projects in the order of their creation."""
        ...

    @abstractmethod
    async def put(self, project: Project, *, expected_updated_at: datetime) -> None:
        """Store the changed project, or raise `ProjectNotFound`.

        Raises `VersionConflict` unless the stored `updated_at` is the expected one, and
        `DuplicateName` if another project has the name.
        """
        ...

    @abstractmethod
    async def remove(self, project_id: str) -> None:
        """Remove an empty project with its accounts, members and logins, all or nothing.

        From then on, whatever port stores something new for it raises `ProjectNotFound` and
        stores nothing; when there is a project of that id again, it does so for what was made
        (`created_at`) before that one was.

        Raises `ProjectNotFound`, or `ProjectNotEmpty` while it holds turns, memories, snapshots
        or unfinished jobs.
        """
        ...
