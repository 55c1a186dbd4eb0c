"""Projects in SQLite."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.project import Project
from memory_server.errors import DuplicateName, ProjectNotEmpty, ProjectNotFound, VersionConflict
from memory_server.ports.projects import Projects
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database

SQL = load("memory_server.storage.sqlite", "projects.sql")

_CREDENTIALS = ("delete_accounts", "delete_members", "delete_logins")
_TRACES = ("delete_sessions", "delete_jobs", "delete_job_owners", "delete_spending")
"""What may be left of a project that holds no memory any more."""


class SqliteProjects(Projects):
    """Projects by id. What was read is remembered: every request asks for its project.

    This process has the file to itself, and whatever changes a project passes here.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, Project] = {}
        self._changes = 0

    async def add(self, project: Project) -> None:
        await self._change(lambda db: _add(db, project))

    async def adopt(self, project: Project) -> None:
        await self._change(lambda db: _adopt(db, project))

    async def find(self, project_id: str) -> Project | None:
        known = self._known.get(project_id)
        if known is not None:
            return known
        changes = self._changes
        found = await self._database.read(lambda db: _find(db, project_id))
        # What was changed while it was read may be read as it was before.
        if found is not None and changes == self._changes:
            self._known[project_id] = found
        return found

    async def list(self) -> Sequence[Project]:
        return await self._database.read(
            lambda db: [_project(row) for row in db.execute(SQL["list"])]
        )

    async def put(self, project: Project, *, expected_updated_at: datetime) -> None:
        await self._change(lambda db: _put(db, project, expected_updated_at))

    async def remove(self, project_id: str) -> None:
        await self._change(lambda db: _remove(db, project_id))

    def forget(self) -> None:
        """Forget what was read."""
        self._changes += 1
        self._known.clear()

    async def _change(self, operation: Callable[[sqlite3.Connection], None]) -> None:
        self.forget()
        try:
            await self._database.write(operation)
        finally:
            self.forget()


def _add(connection: sqlite3.Connection, project: Project) -> None:
    if _find(connection, project.id) is not None:
        raise DuplicateName(f"a project with the id {project.id!r} exists already")
    _check_empty(connection, project.id)
    _check_name(connection, project)
    _clear(connection, project.id)
    _insert(connection, project)


def _adopt(connection: sqlite3.Connection, project: Project) -> None:
    if _find(connection, project.id) is None:
        _check_name(connection, project)
        _insert(connection, project)


def _insert(connection: sqlite3.Connection, project: Project) -> None:
    connection.execute(SQL["reopen"], _values(project))
    connection.execute(SQL["insert"], _values(project))


def _find(connection: sqlite3.Connection, project_id: str) -> Project | None:
    row = connection.execute(SQL["find"], {"id": project_id}).fetchone()
    return None if row is None else _project(row)


def _put(connection: sqlite3.Connection, project: Project, expected: datetime) -> None:
    stored = _existing(connection, project.id)
    if stored.updated_at != expected:
        raise VersionConflict(f"project {project.id!r} was changed meanwhile; read it again")
    _check_name(connection, project)
    connection.execute(SQL["update"], _values(project))


def _remove(connection: sqlite3.Connection, project_id: str) -> None:
    _existing(connection, project_id)
    _check_empty(connection, project_id)
    _clear(connection, project_id)
    connection.execute(SQL["delete"], {"id": project_id})
    connection.execute(SQL["close"], {"id": project_id})


def _existing(connection: sqlite3.Connection, project_id: str) -> Project:
    found = _find(connection, project_id)
    if found is None:
        raise ProjectNotFound(f"this server holds no project {project_id!r}")
    return found


def _clear(connection: sqlite3.Connection, project_id: str) -> None:
    for statement in _CREDENTIALS + _TRACES:
        connection.execute(SQL[statement], {"id": project_id})


def _check_empty(connection: sqlite3.Connection, project_id: str) -> None:
    (held,) = connection.execute(SQL["held"], {"id": project_id}).fetchone()
    if held is not None:
        raise ProjectNotEmpty(
            f"project {project_id!r} still holds {held}: erase what its users have first"
        )


def _check_name(connection: sqlite3.Connection, project: Project) -> None:
    if connection.execute(SQL["namesake"], _values(project)).fetchone() is not None:
        raise DuplicateName(f"another project has the name {project.name!r}")


def _values(project: Project) -> Mapping[str, Any]:
    return {
        "id": project.id,
        "name": project.name,
        "description": project.description,
        "enforce_identity": project.enforce_identity,
        "allow_delegation": project.allow_delegation,
        "created_at": to_micros(project.created_at),
        "updated_at": to_micros(project.updated_at),
    }


def _project(row: sqlite3.Row) -> Project:
    return Project(
        id=row["id"],
        name=row["name"],
        description=row["description"],
        enforce_identity=bool(row["enforce_identity"]),
        allow_delegation=bool(row["allow_delegation"]),
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
    )
