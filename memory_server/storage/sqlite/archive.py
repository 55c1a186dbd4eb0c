"""Archives of a SQLite database: reading at one moment, and the port over both directions."""

import asyncio
import itertools
import json
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from memory_server.domain.archive import (
    PORTABLE,
    ArchivedJob,
    ArchivedMemory,
    ArchivedProposal,
    ArchivedSession,
    ArchivedSnapshot,
    ArchivedTurn,
    Contents,
    Item,
    Outcome,
    StoredVector,
)
from memory_server.domain.job import resting
from memory_server.domain.scope import Scope
from memory_server.ports.archive import Archive, Reading
from memory_server.search.local import vectors
from memory_server.search.local.predicates import Predicate
from memory_server.storage.archive_outcomes import Judged
from memory_server.storage.sqlite.archive_taking import SQL, take
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.failures import translated
from memory_server.storage.sqlite.memory_rows import memory_of
from memory_server.storage.sqlite.proposals import proposal_of_row
from memory_server.storage.sqlite.rows import job_of, session_of, snapshot_of, turn_of

PORTION = 100
"""Items that are read at a time."""


class SqliteArchive(Archive):
    """Everything of a project, out of the database and into it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, contents: Contents) -> Reading:
        reading = SqliteReading(await self._database.moment(), contents, self._database)
        try:
            await reading.find_spaces()
        except BaseException:
            await reading.close()
            raise
        return reading

    async def write(
        self,
        project_id: str,
        items: Sequence[Item],
        *,
        restore_erased: bool = False,
        dry_run: bool = False,
    ) -> Sequence[Outcome]:
        try:
            return await self._database.write(
                lambda db: take(
                    db, project_id, items, restore_erased=restore_erased, dry_run=dry_run
                )
            )
        except Judged as judged:
            return judged.outcomes


class SqliteReading(Reading):
    """One moment of the database, on a connection and in a thread of its own."""

    def __init__(
        self, connection: sqlite3.Connection, contents: Contents, database: Database
    ) -> None:
        self._connection = connection
        self._contents = contents
        self._database = database
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sqlite-archive")
        self._spaces: Sequence[str] = ()
        self._closed = False

    @property
    def spaces(self) -> Sequence[str]:
        return self._spaces

    async def find_spaces(self) -> None:
        """Learn of what spaces the vectors are."""
        if self._contents.with_vectors:
            self._spaces = await self._run(self._read_spaces)

    async def portions(self) -> AsyncGenerator[Sequence[Item]]:
        items = self._items()
        while portion := await self._run(lambda: _some(items)):
            yield portion

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        # Behind whatever the thread is at; nobody has to wait for that.
        loop = asyncio.get_running_loop()
        closing = self._executor.submit(self._connection.close)
        closing.add_done_callback(lambda _: loop.call_soon_threadsafe(self._database.let_go))
        self._executor.shutdown(wait=False)

    async def _run(self, work: Callable[[], Any]) -> Any:
        def run() -> Any:
            with translated(self._database.location):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._executor, run)

    def _read_spaces(self) -> Sequence[str]:
        owned = self._owned()
        statement = owned.fill(SQL["spaces"])
        return [space for (space,) in self._connection.execute(statement, owned.values)]

    def _items(self) -> Iterator[Item]:
        if self._contents.memory_types != []:
            yield from self._memories()
            yield from self._proposals()
        if self._contents.has_turns:
            yield from self._conversations()
        if self._contents.is_whole:
            for row in self._rows("jobs", self._owned()):
                yield ArchivedJob(job=resting(job_of(row)))

    def _memories(self) -> Iterator[Item]:
        predicate = self._owned()
        if self._contents.memory_types is not None:
            listed = predicate.bind(json.dumps(self._contents.memory_types))
            types = f"(SELECT value FROM json_each({listed}))"  # noqa: S608 bound
            predicate.add(f"(e.type IN {types} OR e.type = 'custom' AND e.key IN {types})")
        for row in self._rows("memories", predicate):
            yield ArchivedMemory(
                memory=memory_of(row), root_id=row["root_id"], vectors=self._vectors(row)
            )

    def _proposals(self) -> Iterator[Item]:
        predicate = self._owned()
        if self._contents.memory_types is not None:
            predicate.among("type", self._contents.memory_types)
        for row in self._rows("proposals", predicate):
            yield ArchivedProposal(proposal=proposal_of_row(row))

    def _conversations(self) -> Iterator[Item]:
        for row in self._rows("sessions", Predicate("e")):
            yield ArchivedSession(session=session_of(row))
        for row in self._rows("turns", self._owned()):
            yield ArchivedTurn(
                turn=turn_of(row),
                vectors=self._vectors(row),
                snapshot_follows=bool(row["snapshot_follows"]),
            )
        for row in self._rows("snapshots", self._owned()):
            jobs = [job_of(one) for one in self._connection.execute(SQL["jobs_of"], dict(row))]
            yield ArchivedSnapshot(snapshot=snapshot_of(row), jobs=[resting(job) for job in jobs])

    def _owned(self) -> Predicate:
        predicate = Predicate("e")
        contents = self._contents
        predicate.within(Scope(project_id=contents.project_id, user_id=contents.user_id))
        return predicate

    def _rows(self, statement: str, predicate: Predicate) -> Iterator[sqlite3.Row]:
        named = {
            "project_id": self._contents.project_id,
            "user_id": self._contents.user_id,
            "kinds": json.dumps(PORTABLE),
        }
        yield from self._connection.execute(
            predicate.fill(SQL[statement]), {**named, **predicate.values}
        )

    def _vectors(self, row: sqlite3.Row) -> Sequence[StoredVector]:
        if not self._contents.with_vectors or row["document"] is None:
            return ()
        return [
            StoredVector(space=one.space, data=one.data)
            for one in vectors.read(self._connection, row["document"])
        ]


def _some(items: Iterator[Item]) -> Sequence[Item]:
    return list(itertools.islice(items, PORTION))
