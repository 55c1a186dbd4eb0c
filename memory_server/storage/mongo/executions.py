"""Executions in MongoDB: what one server began, every other knows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ReturnDocument

from memory_server.domain.account import PrincipalKind
from memory_server.domain.execution import SERVER_GONE, Execution, ExecutionStatus, MemoryIdentity
from memory_server.domain.moments import from_micros, maybe_moment, to_micros
from memory_server.ports.executions import Executions
from memory_server.storage.mongo.collections import EXECUTIONS
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document

_RUNNING = {"status": ExecutionStatus.RUNNING.value}


class MongoExecutions(Executions):
    """One document for each execution, by its id alone. The first end is the one that counts."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def begin(self, execution: Execution) -> None:
        with self._database.translated():
            await self._database[EXECUTIONS].insert_one(_document(execution))

    async def find(self, execution_id: str) -> Execution | None:
        with self._database.translated():
            found = await self._database[EXECUTIONS].find_one({"_id": execution_id})
        return None if found is None else _execution(found)

    async def finish(
        self,
        execution_id: str,
        status: ExecutionStatus,
        *,
        at: datetime,
        error_code: str | None = None,
    ) -> Execution | None:
        with self._database.translated():
            ended = await self._database[EXECUTIONS].find_one_and_update(
                {"_id": execution_id, **_RUNNING},
                {"$set": _end(status, at, error_code)},
                return_document=ReturnDocument.AFTER,
            )
        return await self.find(execution_id) if ended is None else _execution(ended)

    async def over(self, execution_ids: Sequence[str]) -> Sequence[str]:
        wanted = {"_id": {"$in": [*execution_ids]}, **_RUNNING}
        with self._database.translated():
            found = await self._database[EXECUTIONS].find(wanted, {"_id": 1}).to_list()
        running = {document["_id"] for document in found}
        return [id_ for id_ in execution_ids if id_ not in running]

    async def end_abandoned(
        self, *, alive: Sequence[str], started_before: datetime, at: datetime
    ) -> int:
        abandoned = {
            **_RUNNING,
            "server_id": {"$nin": [*alive]},
            "started_at": {"$lt": to_micros(started_before)},
        }
        end = _end(ExecutionStatus.FAILED, at, SERVER_GONE)
        with self._database.translated():
            done = await self._database[EXECUTIONS].update_many(abandoned, {"$set": end})
        return done.modified_count

    async def forget(self, *, ended_before: datetime) -> int:
        old = {"ended_at": {"$lt": to_micros(ended_before)}}
        with self._database.translated():
            return (await self._database[EXECUTIONS].delete_many(old)).deleted_count


def _document(execution: Execution) -> Document:
    identity = execution.identity
    return {
        "_id": execution.id,
        "project_id": execution.project_id,
        "user_id": identity.user_id,
        "workspace": execution.workspace,
        "server_id": execution.server_id,
        "invoker": {"kind": identity.kind.value, "id": identity.invoker},
        "overridden": identity.overridden,
        "delegated": identity.delegated,
        "session_id": execution.session_id,
        "status": execution.status.value,
        "started_at": to_micros(execution.started_at),
        "ended_at": None if execution.ended_at is None else to_micros(execution.ended_at),
        "error_code": execution.error_code,
    }


def _execution(document: Mapping[str, Any]) -> Execution:
    return Execution(
        id=document["_id"],
        project_id=document["project_id"],
        workspace=document["workspace"],
        server_id=document["server_id"],
        identity=MemoryIdentity(
            kind=PrincipalKind(document["invoker"]["kind"]),
            invoker=document["invoker"]["id"],
            user_id=document["user_id"],
            overridden=document["overridden"],
            delegated=document["delegated"],
        ),
        session_id=document["session_id"],
        status=ExecutionStatus(document["status"]),
        started_at=from_micros(document["started_at"]),
        ended_at=maybe_moment(document["ended_at"]),
        error_code=document["error_code"],
    )


def _end(status: ExecutionStatus, at: datetime, error_code: str | None) -> Document:
    return {"status": status.value, "ended_at": to_micros(at), "error_code": error_code}
