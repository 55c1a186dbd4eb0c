"""Whether the database takes writes: a full disk or a dead writer shows in no read."""

import sqlite3
from datetime import datetime, timedelta

from memory_server.domain.moments import to_micros
from memory_server.errors import StorageError
from memory_server.ports.clock import Clock
from memory_server.search.local.statements import load
from memory_server.storage.sqlite.database import Database

SQL = load("memory_server.storage.sqlite", "heartbeat.sql")

PAUSE = timedelta(seconds=3)
"""How long an answer holds: each costs a write to the disk."""


class Heartbeat:
    """Writes one row now and then, and remembers how that went."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._tried_at: datetime | None = None
        self._problem: StorageError | None = None

    async def check(self) -> None:
        """Return if writes work, else raise the `StorageError` that says why not.

        A write of anybody that failed since the last look is an answer too: a disk on which one
        row finds room may be full for all others.
        """
        self._database.check_writer()
        now = self._clock.now()
        failure = self._database.last_failure()
        if failure is not None:
            self._tried_at, self._problem = now, failure
        elif self._tried_at is None or abs(now - self._tried_at) >= PAUSE:
            self._tried_at = now
            self._problem = await self._beat(now)
        if self._problem is not None:
            raise self._problem

    def forget(self) -> None:
        """Try again at the next look."""
        self._tried_at = self._problem = None
        self._database.last_failure()

    async def _beat(self, now: datetime) -> StorageError | None:
        values = {"at": to_micros(now)}

        def beat(connection: sqlite3.Connection) -> None:
            connection.execute(SQL["beat"], values)

        try:
            await self._database.write(beat)
        except StorageError as error:
            self._database.last_failure()
            return error
        return None
