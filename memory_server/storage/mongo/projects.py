"""Projects in MongoDB."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bson import ObjectId
from pymongo.errors import DuplicateKeyError

from memory_server.domain.job import JobState
from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.project import Project
from memory_server.errors import DuplicateName, ProjectNotEmpty, ProjectNotFound, VersionConflict
from memory_server.ports.projects import Projects
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import (
    ACCOUNTS,
    JOB_OWNERS,
    JOBS,
    LOGINS,
    MEMBERS,
    MEMORIES,
    PROJECTS,
    PROPOSALS,
    SESSIONS,
    SNAPSHOTS,
    SPENDING,
    TURNS,
)
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document

_CREDENTIALS = (ACCOUNTS, MEMBERS, LOGINS)
_TRACES = (SESSIONS, JOBS, JOB_OWNERS, SPENDING)
"""What may be left of a project that holds no memory any more."""
_UNFINISHED = {"state": {"$in": [JobState.QUEUED.value, JobState.RUNNING.value]}}
_HELD: Sequence[tuple[str, str, Document]] = (
    (TURNS, "turns", {}),
    *((memories, "memories", {}) for memories in MEMORIES.values()),
    (PROPOSALS, "proposals", {}),
    (SNAPSHOTS, "snapshots", {}),
    (JOBS, "unfinished jobs", _UNFINISHED),
)


class MongoProjects(Projects):
    """Projects by id. Read anew every time: another server may have changed them."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def add(self, project: Project) -> None:
        async def add(session: Session) -> None:
            if await self._find(session, project.id) is not None:
                raise DuplicateName(f"a project with the id {project.id!r} exists already")
            await self._check_empty(session, project.id)
            await self._check_name(session, project)
            await self._clear(session, project.id)
            await self._insert(session, project)

        await self._database.transact(add)

    async def adopt(self, project: Project) -> None:
        async def adopt(session: Session) -> None:
            if await self._find(session, project.id) is None:
                await self._check_name(session, project)
                await self._insert(session, project)

        await self._database.transact(adopt)

    async def find(self, project_id: str) -> Project | None:
        with self._database.translated():
            return await self._find(None, project_id)

    async def list(self) -> Sequence[Project]:
        with self._database.translated():
            found = self._database[PROJECTS].find().sort([("created_at", 1), ("added", 1)])
            return [_project(document) async for document in found]

    async def put(self, project: Project, *, expected_updated_at: datetime) -> None:
        document = _document(project)
        which = {"_id": document.pop("_id")}

        async def put(session: Session) -> None:
            stored = await self._existing(session, project.id)
            if stored.updated_at != expected_updated_at:
                raise VersionConflict(
                    f"project {project.id!r} was changed meanwhile; read it again"
                )
            await self._check_name(session, project)
            try:
                await self._database[PROJECTS].update_one(
                    which, {"$set": document}, session=session
                )
            except DuplicateKeyError:
                raise _name_taken(project) from None

        await self._database.transact(put)

    async def remove(self, project_id: str) -> None:
        async def remove(session: Session) -> None:
            await self._existing(session, project_id)
            await self._check_empty(session, project_id)
            await self._clear(session, project_id)
            await self._database[PROJECTS].delete_one({"_id": project_id}, session=session)
            await gates.close(self._database, session, project_id)

        await self._database.transact(remove)

    async def _find(self, session: Session | None, project_id: str) -> Project | None:
        found = await self._database[PROJECTS].find_one({"_id": project_id}, session=session)
        return None if found is None else _project(found)

    async def _existing(self, session: Session, project_id: str) -> Project:
        found = await self._find(session, project_id)
        if found is None:
            raise ProjectNotFound(f"this server holds no project {project_id!r}")
        return found

    async def _insert(self, session: Session, project: Project) -> None:
        await gates.reopen(self._database, session, project.id, project.created_at)
        document = _document(project) | {"added": ObjectId()}
        try:
            await self._database[PROJECTS].insert_one(document, session=session)
        except DuplicateKeyError:
            raise _name_taken(project) from None

    async def _check_empty(self, session: Session, project_id: str) -> None:
        for collection, kind, which in _HELD:
            held = {"project_id": project_id, **which}
            if await self._database[collection].find_one(held, {"_id": 1}, session=session):
                raise ProjectNotEmpty(
                    f"project {project_id!r} still holds {kind}: erase what its users have first"
                )

    async def _check_name(self, session: Session, project: Project) -> None:
        namesake = {"name": project.name, "_id": {"$ne": project.id}}
        if await self._database[PROJECTS].find_one(namesake, session=session) is not None:
            raise _name_taken(project)

    async def _clear(self, session: Session, project_id: str) -> None:
        for collection in _CREDENTIALS + _TRACES:
            await self._database[collection].delete_many(
                {"project_id": project_id}, session=session
            )


def _name_taken(project: Project) -> DuplicateName:
    return DuplicateName(f"another project has the name {project.name!r}")


def _document(project: Project) -> Document:
    return {
        "_id": project.id,
        "name": project.name,
        "description": project.description,
        "enforce_identity": project.enforce_identity,
        "allow_delegation": project.allow_delegation,
        "created_at": to_micros(project.created_at),
        "updated_at": to_micros(project.updated_at),
    }


def _project(document: Mapping[str, Any]) -> Project:
    return Project(
        id=document["_id"],
        name=document["name"],
        description=document["description"],
        enforce_identity=document["enforce_identity"],
        allow_delegation=document["allow_delegation"],
        created_at=from_micros(document["created_at"]),
        updated_at=from_micros(document["updated_at"]),
    )
