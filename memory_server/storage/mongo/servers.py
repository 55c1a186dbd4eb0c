"""The servers at work on one database, as they report themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from memory_server.domain.moments import from_micros, to_micros
from memory_server.domain.server import Server
from memory_server.ports.servers import Servers
from memory_server.settings import ServerRole
from memory_server.storage.mongo.collections import SERVERS
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document


class MongoServers(Servers):
    """One document for each server."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def report(self, server: Server) -> None:
        await self._database.greet()  # its time keeps this server's leases right
        with self._database.translated():
            await self._database[SERVERS].replace_one(
                {"_id": server.id}, _document(server), upsert=True
            )

    async def seen_since(self, moment: datetime) -> Sequence[Server]:
        wanted = {"seen_at": {"$gte": to_micros(moment)}}
        with self._database.translated():
            found = await self._database[SERVERS].find(wanted).to_list()
        return sorted(map(_server, found), key=lambda server: (server.started_at, server.id))

    async def leave(self, server_id: str) -> None:
        with self._database.translated():
            await self._database[SERVERS].delete_one({"_id": server_id})

    async def forget(self, *, before: datetime) -> int:
        old = {"seen_at": {"$lt": to_micros(before)}}
        with self._database.translated():
            return (await self._database[SERVERS].delete_many(old)).deleted_count


def _document(server: Server) -> Document:
    document = asdict(server)
    return {
        "_id": document.pop("id"),
        **document,
        "role": server.role.value,
        "started_at": to_micros(server.started_at),
        "seen_at": to_micros(server.seen_at),
    }


def _server(document: Mapping[str, Any]) -> Server:
    values = {**document}
    return Server(
        id=values.pop("_id"),
        role=ServerRole(values.pop("role")),
        started_at=from_micros(values.pop("started_at")),
        seen_at=from_micros(values.pop("seen_at")),
        **values,
    )
