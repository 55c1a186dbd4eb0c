"""Attempts in MongoDB: counted over all servers."""

import hashlib
from datetime import datetime, timedelta

from pymongo.errors import DuplicateKeyError

from memory_server.domain.moments import from_micros, to_micros
from memory_server.ports.attempts import Attempts
from memory_server.storage.mongo.collections import ATTEMPTS
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document


class MongoAttempts(Attempts):
    """One document for each key, under its digest.

    So names and addresses do not stand there to be read; who guesses one can tell it is there.
    """

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def count(
        self, key: str, *, most: int, window: timedelta, now: datetime
    ) -> datetime | None:
        made, who = to_micros(now), _who(key)
        old = {"$pull": {"made": {"$lte": to_micros(now - window)}}}
        # A full list matches no longer, and to insert what is there already fails: so attempts
        # made at once do not pass together.
        has_room = {**who, f"made.{most - 1}": {"$exists": False}}
        note: Document = {"$push": {"made": made}, "$set": {"last_at": made}}
        with self._database.translated():
            await self._database[ATTEMPTS].update_one(who, old)
            for _ in range(2):  # two first attempts insert at once: one of them finds it there
                try:
                    await self._database[ATTEMPTS].update_one(has_room, note, upsert=True)
                except DuplicateKeyError:
                    continue
                return None
            found = await self._database[ATTEMPTS].find_one(who)
        return from_micros(min(found["made"])) if found and found["made"] else now

    async def forgive(self, key: str) -> None:
        with self._database.translated():
            await self._database[ATTEMPTS].update_one(_who(key), {"$pop": {"made": 1}})

    async def forget(self, *, before: datetime) -> int:
        old = {"last_at": {"$lt": to_micros(before)}}
        with self._database.translated():
            return (await self._database[ATTEMPTS].delete_many(old)).deleted_count


def _who(key: str) -> Document:
    return {"_id": hashlib.sha256(key.encode()).hexdigest()}
