"""The ledger of erasures: who was erased and when, without naming anybody."""

from datetime import datetime
from functools import partial

from pymongo.errors import DuplicateKeyError

from memory_server.domain.erasure import erased, erasures_of
from memory_server.domain.moments import maybe_moment, to_micros
from memory_server.domain.scope import Scope
from memory_server.storage.mongo.collections import ERASED
from memory_server.storage.mongo.database import MongoDatabase, Session
from memory_server.storage.mongo.documents import Document
from memory_server.storage.mongo.failures import overtaken


async def note(database: MongoDatabase, scope: Scope, now: datetime) -> None:
    """Write down whom a scope erases, before anything of it is erased.

    What an archive brings comes before, and is erased, or knows of the erasure.
    """
    await database.transact(partial(_note, database, scope, now))


async def meet(database: MongoDatabase, session: Session, project_id: str) -> None:
    """Let a transaction that asks the ledger of a project and an erasure not miss each other.

    A transaction sees the ledger as it was at its start: so both write the same document of it.
    """
    await _write(database, session, Scope(project_id=project_id), {"$inc": {"meetings": 1}})


async def erased_at(
    database: MongoDatabase, session: Session, project_id: str, user_id: str | None
) -> datetime | None:
    """Return when a user was erased last, alone or with the whole project; None: never."""
    owners = {"_id": {"$in": list(erasures_of(project_id, user_id))}, "at": {"$exists": True}}
    moments = [one["at"] async for one in database[ERASED].find(owners, session=session)]
    return maybe_moment(max(moments, default=None))


async def _note(database: MongoDatabase, scope: Scope, now: datetime, session: Session) -> None:
    await meet(database, session, scope.project_id)
    await _write(database, session, scope, {"$max": {"at": to_micros(now)}})


async def _write(database: MongoDatabase, session: Session, scope: Scope, change: Document) -> None:
    which = {"_id": erased(scope)}
    try:
        await database[ERASED].update_one(which, change, upsert=True, session=session)
    except DuplicateKeyError as error:  # another transaction made the entry just now
        raise overtaken(error) from error
