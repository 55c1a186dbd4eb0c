"""What projects have taken of models, in MongoDB: counted over all servers."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from pymongo.errors import DuplicateKeyError

from memory_server.domain.moments import to_micros
from memory_server.domain.spending import Usage, hour_of
from memory_server.errors import ProjectNotFound
from memory_server.ports.spending import Spending
from memory_server.storage.mongo import gates
from memory_server.storage.mongo.collections import SPENDING
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.failures import overtaken

_SUMS = {name: {"$sum": f"${name}"} for name in ("calls", "input_tokens", "output_tokens")}


class MongoSpending(Spending):
    """One document for each project and hour."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def add(self, project_id: str, usage: Usage, *, at: datetime) -> None:
        hour = to_micros(hour_of(at))
        which = {"_id": identity(project_id, str(hour))}
        change = {
            "$setOnInsert": {"project_id": project_id, "hour": hour},
            "$inc": {
                "calls": usage.calls,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            },
        }

        async def count(session: Session) -> None:
            await gates.enter(self._database, session, project_id, SPENDING, at)
            try:
                await self._database[SPENDING].update_one(
                    which, change, upsert=True, session=session
                )
            except DuplicateKeyError as error:  # another server counts in the hour's first moment
                raise overtaken(error) from error

        with suppress(ProjectNotFound):
            await self._database.transact(count)

    async def read(self, project_id: str, *, since: datetime, before: datetime) -> Usage:
        found = await self._sums({"project_id": project_id, **_span(since, before)})
        return found.get(project_id, Usage())

    async def by_project(self, *, since: datetime, before: datetime) -> Mapping[str, Usage]:
        return await self._sums(_span(since, before))

    async def forget(self, *, before: datetime) -> int:
        old = {"hour": {"$lt": to_micros(before)}}
        with self._database.translated():
            return (await self._database[SPENDING].delete_many(old)).deleted_count

    async def _sums(self, which: Document) -> Mapping[str, Usage]:
        summing = [
            {"$match": which},
            {"$group": {"_id": "$project_id", **_SUMS}},
            {"$sort": {"_id": 1}},
        ]
        with self._database.translated():
            found = await (await self._database[SPENDING].aggregate(summing)).to_list()
        return {one["_id"]: Usage.of(one) for one in found}


def _span(since: datetime, before: datetime) -> Document:
    return {"hour": {"$gte": to_micros(since), "$lt": to_micros(before)}}
