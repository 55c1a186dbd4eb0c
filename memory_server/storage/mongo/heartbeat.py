"""Whether the deployment takes writes: a full disk or a lost majority shows in no read."""

from datetime import datetime, timedelta

import pymongo

from memory_server.domain.moments import to_micros
from memory_server.ports.clock import Clock
from memory_server.storage.mongo.collections import HEARTBEAT
from memory_server.storage.mongo.database import GREETING_SECONDS, MongoDatabase

PAUSE = timedelta(seconds=3)
"""How long an answer holds: each costs a write to the disks of a majority."""


class MongoHeartbeat:
    """Writes one document now and then."""

    def __init__(self, database: MongoDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._written_at: datetime | None = None

    async def check(self) -> None:
        """Return if writes work, else raise the `StorageError` that says why not."""
        now = self._clock.now()
        if self._written_at is not None and abs(now - self._written_at) < PAUSE:
            return
        self._written_at = None
        beat = {"$max": {"at": to_micros(now)}}
        with self._database.translated(), pymongo.timeout(GREETING_SECONDS):
            await self._database[HEARTBEAT].update_one({"_id": "heartbeat"}, beat, upsert=True)
        self._written_at = now
