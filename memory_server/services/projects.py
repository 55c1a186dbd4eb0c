"""The projects of a server."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from memory_server.domain.project import Project
from memory_server.errors import InvalidRequest, ProjectInUse, ProjectNotFound
from memory_server.ports.clock import Clock
from memory_server.ports.projects import Projects

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectChanges:
    """What is to be different; None leaves it alone."""

    name: str | None = None
    description: str | None = None
    enforce_identity: bool | None = None
    allow_delegation: bool | None = None


class ProjectKeeping:
    """Makes, changes and removes projects. The deployment's own exists from the start."""

    def __init__(self, *, projects: Projects, clock: Clock, own: str) -> None:
        self._projects = projects
        self._clock = clock
        self._own = own

    async def get(self, project_id: str) -> Project:
        """Return one project, or raise `ProjectNotFound`."""
        found = await self._projects.find(project_id)
        if found is None and project_id == self._own:
            found = await self._begin()
        if found is None:
            raise ProjectNotFound(
                f"this server holds no project {project_id!r}; its own is {self._own!r}"
            )
        return found

    async def list(self) -> Sequence[Project]:
        """Return all projects, the oldest first."""
        await self.get(self._own)
        return await self._projects.list()

    async def create(
        self, name: str, *, description: str = "", project_id: str | None = None
    ) -> Project:
        """Make a project; without an id it gets one that begins with its name.

        Raises `DuplicateName` if the id or the name is taken, and `InvalidRequest`.
        """
        await self.get(self._own)
        if project_id is not None and not _ID.fullmatch(project_id):
            raise InvalidRequest(
                "id: 1 to 128 of the characters A-Z, a-z, 0-9, dot, underscore and hyphen, "
                "beginning with a letter or digit"
            )
        now = self._clock.now()
        project = Project(
            id=project_id or _id_from(name),
            name=_checked(name),
            description=description,
            created_at=now,
            updated_at=now,
        )
        await self._projects.add(project)
        return project

    async def change(self, project_id: str, changes: ProjectChanges) -> Project:
        """Change a project and return it as it is now, for every request from the next one on."""
        stored = await self.get(project_id)
        given = {
            field: value
            for field in ("name", "description", "enforce_identity", "allow_delegation")
            if (value := getattr(changes, field)) is not None
        }
        if "name" in given:
            given["name"] = _checked(given["name"])
        later = max(self._clock.now(), stored.updated_at + _TICK)
        project = replace(stored, **given, updated_at=later)
        await self._projects.put(project, expected_updated_at=stored.updated_at)
        return project

    async def remove(self, project_id: str) -> None:
        """Remove an empty project with its accounts, members and logins.

        Raises `ProjectInUse` for the deployment's own, and `ProjectNotEmpty`.
        """
        await self.get(project_id)
        if project_id == self._own:
            raise ProjectInUse(
                f"project {project_id!r} is the one this server was started for: it goes with "
                "the server's data"
            )
        await self._projects.remove(project_id)

    async def _begin(self) -> Project:
        """Make the deployment's own project, with all the memory that has its id already."""
        now = self._clock.now()
        project = Project(id=self._own, name=self._own, created_at=now, updated_at=now)
        await self._projects.adopt(project)
        return project


def _id_from(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", name.lower())
    return f"{'-'.join(words)[:48].strip('-') or 'project'}-{secrets.token_hex(4)}"


def _checked(name: str) -> str:
    if not name.strip():
        raise InvalidRequest("name: a project needs a name that is not blank")
    return name.strip()
