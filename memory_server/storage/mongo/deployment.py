"""The configuration of all servers of one database.

One document: what is stored, what was applied, and who is applying at the moment. Keys are not
kept: they belong into the environment of each server.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pymongo.errors import DuplicateKeyError

from memory_server.domain.deployment import AppliedConfig, Secret, StoredConfig
from memory_server.domain.moments import from_micros, to_micros
from memory_server.errors import ApplyInProgress, SecretNotServed, StorageCorrupt
from memory_server.ports.deployment import DeploymentRecords
from memory_server.storage.mongo.collections import DEPLOYMENT
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document

_THE_ONE = {"_id": "configuration"}


class MongoDeployment(DeploymentRecords):
    """The configuration in the database, one server at a time changing it."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database

    async def stored(self) -> StoredConfig | None:
        found = await self._part("stored")
        return None if found is None else StoredConfig(**_config(found))

    async def store(self, config: StoredConfig) -> None:
        await self._change({}, {"$set": {"stored": _written(config)}})

    async def applied(self) -> AppliedConfig | None:
        found = await self._part("applied")
        if found is None:
            return None
        return AppliedConfig(**_config(found), local_models=bool(found["local_models"]))

    async def claim(self, by: str, *, now: datetime, until: datetime) -> str | None:
        free = {
            "$or": [
                {"claim": None},
                {"claim.by": by},
                {"claim.until": {"$lte": to_micros(now)}},
            ]
        }
        claim = {"$set": {"claim": {"by": by, "until": to_micros(until)}}}
        for _ in range(2):  # two first claims insert at once: one of them finds it there
            try:
                await self._change(free, claim)
            except DuplicateKeyError:
                continue
            return None
        found = await self._part("claim")
        return "another server" if found is None else str(found["by"])

    async def let_go(self, by: str) -> None:
        with self._database.translated():
            await self._database[DEPLOYMENT].update_one(
                {**_THE_ONE, "claim.by": by}, {"$unset": {"claim": ""}}
            )

    async def note_applied(self, config: AppliedConfig, *, by: str) -> None:
        applied = {**_written(config), "local_models": config.local_models}
        with self._database.translated():
            noted = await self._database[DEPLOYMENT].update_one(
                {**_THE_ONE, "claim.by": by}, {"$set": {"applied": applied}}
            )
        if not noted.matched_count:
            raise ApplyInProgress(
                "nothing was changed: this server was silent for so long that another one applies "
                "by now; ask again when that has ended"
            )

    async def secrets(self) -> Mapping[str, Secret]:
        return {}

    async def keep_secrets(self, secrets: Mapping[str, Secret]) -> None:
        raise SecretNotServed(
            "nothing was stored: with a MongoDB store a secret is never kept in the database, "
            "which all who read memory can read. Set it in the environment of every server "
            "(locally: agentengine secret set), and start them anew one after the other"
        )

    async def _part(self, name: str) -> Mapping[str, Any] | None:
        with self._database.translated():
            found = await self._database[DEPLOYMENT].find_one(_THE_ONE)
        return None if found is None else found.get(name)

    async def _change(self, condition: Document, change: Document) -> None:
        """Change the one document where a condition holds; raises `DuplicateKeyError` else."""
        with self._database.translated():
            try:
                await self._database[DEPLOYMENT].update_one(
                    {**_THE_ONE, **condition}, change, upsert=True
                )
            except DuplicateKeyError as error:
                taken = error
            else:
                return
        raise taken


def _written(config: StoredConfig | AppliedConfig) -> Document:
    # As text: its keys are a user's, and need not be names that a database takes.
    document = json.dumps(config.document, ensure_ascii=False)
    return {"document": document, "digest": config.digest, "at": to_micros(config.at)}


def _config(found: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {
            "document": json.loads(found["document"]),
            "digest": str(found["digest"]),
            "at": from_micros(found["at"]),
        }
    except (KeyError, TypeError, ValueError):
        # Without the cause: its text could hold a part of the content.
        raise StorageCorrupt(
            "the configuration in the database is damaged: store and apply it anew over HTTP"
        ) from None
