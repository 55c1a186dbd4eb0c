"""What projects have taken of models, in SQLite."""

from collections.abc import Mapping
from datetime import datetime

from memory_server.domain.moments import to_micros
from memory_server.domain.spending import Usage, hour_of
from memory_server.ports.spending import Spending
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database

SQL = load("memory_server.storage.sqlite", "spending.sql")


class SqliteSpending(Spending):
    """One row for each project and hour."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, project_id: str, usage: Usage, *, at: datetime) -> None:
        values = {
            "project_id": project_id,
            "at": to_micros(at),
            "hour": to_micros(hour_of(at)),
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
        }
        await self._database.write(lambda db: db.execute(SQL["add"], values))

    async def read(self, project_id: str, *, since: datetime, before: datetime) -> Usage:
        values = {"project_id": project_id, **_span(since, before)}
        row = await self._database.read(lambda db: db.execute(SQL["read"], values).fetchone())
        return Usage.of(dict(row))

    async def by_project(self, *, since: datetime, before: datetime) -> Mapping[str, Usage]:
        values = _span(since, before)
        rows = await self._database.read(
            lambda db: db.execute(SQL["by_project"], values).fetchall()
        )
        return {row["project_id"]: Usage.of(dict(row)) for row in rows}

    async def forget(self, *, before: datetime) -> int:
        values = {"before": to_micros(before)}
        return await self._database.write(lambda db: db.execute(SQL["forget"], values).rowcount)


def _span(since: datetime, before: datetime) -> Mapping[str, int]:
    return {"since": to_micros(since), "before": to_micros(before)}
