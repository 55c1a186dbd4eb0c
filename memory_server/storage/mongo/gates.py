"""The gates of projects: what is stored and a project's removal do not miss each other.

A transaction sees the database as it was at its start. One that stores and one that removes would
each not see the other and both succeed, if they did not both write the same document: its gate.
"""

import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pymongo import ReturnDocument, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from memory_server.domain.moments import to_micros
from memory_server.errors import ProjectNotFound, StorageError
from memory_server.storage.mongo.collections import GATES
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document, identity
from memory_server.storage.mongo.failures import overtaken

SHARDS = 128
"""Of each project: writers by one gate wait for each other. Fewer or more need a schema step."""
FOREVER = 2**63 - 1

_CLOSED = "closed_until"
"""The field that says from which moment on things may have been made; without it, from any."""
_DUPLICATE_KEY = 11000
_AGAIN = "TransientTransactionError"
"""The label by which a transaction is begun anew."""


async def enter(
    database: MongoDatabase, session: Session, project_id: str, shard: str, created_at: datetime
) -> Document:
    """Let a transaction store something new, made at that moment, in a project.

    `shard` is the session or the user whose it is: any text that spreads writers. Of things made
    at several moments, the earliest counts. Raises `ProjectNotFound` for what was made before the
    project of that id was removed, or while there is none any more.

    Returns the fields by which a document of the project that its removal deletes tells the same
    to `refuse_late`: whoever changes that one need not come by the gate.
    """
    try:
        gate = await database[GATES].find_one_and_update(
            _gate(project_id, zlib.crc32(shard.encode("utf-8", "surrogatepass")) % SHARDS),
            {"$inc": {"entries": 1}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
    except DuplicateKeyError as error:  # another transaction made the gate just now
        raise overtaken(error) from error
    if gate is None:
        raise StorageError(f"{database.location}: an upsert returned nothing")
    refuse_late(gate, created_at)
    return {_CLOSED: gate[_CLOSED]} if _CLOSED in gate else {}


def refuse_late(entered: Mapping[str, Any], created_at: datetime) -> None:
    """Refuse what was made too early for a gate, or for what came in by it."""
    if to_micros(created_at) < entered.get(_CLOSED, -FOREVER):
        raise ProjectNotFound("the project was removed meanwhile; nothing was stored")


async def close(database: MongoDatabase, session: Session, project_id: str) -> None:
    """Let nothing into a project any more; whoever is on their way in comes before or never."""
    await _set_all(database, session, project_id, FOREVER)


async def reopen(
    database: MongoDatabase, session: Session, project_id: str, created_at: datetime
) -> None:
    """Let into a project of an id that another one had what is made from a moment on."""
    if await database[GATES].find_one(_gate(project_id, 0) | {_CLOSED: FOREVER}, session=session):
        await _set_all(database, session, project_id, to_micros(created_at))


async def _set_all(database: MongoDatabase, session: Session, project_id: str, until: int) -> None:
    close = {"$set": {_CLOSED: until}, "$inc": {"entries": 1}}
    gates = [UpdateOne(_gate(project_id, number), close, upsert=True) for number in range(SHARDS)]
    try:
        await database[GATES].bulk_write(gates, session=session)
    except BulkWriteError as error:
        if not error.has_error_label(_AGAIN) and _is_duplicate(error):
            raise overtaken(error) from error
        raise


def _gate(project_id: str, number: int) -> Document:
    return {"_id": identity(project_id, str(number))}


def _is_duplicate(error: BulkWriteError) -> bool:
    return any(one["code"] == _DUPLICATE_KEY for one in (error.details or {})["writeErrors"])
