"""The ledger of erasures: who was erased and when, without naming anybody."""

from datetime import datetime

from memory_server.domain.erasure import erased, erasures_of
from memory_server.domain.moments import maybe_moment, to_micros
from memory_server.domain.scope import Scope
from memory_server.storage.mongo.collections import ERASED
from memory_server.storage.mongo.database import MongoDatabase, Session


async def note(
    database: MongoDatabase, scope: Scope, now: datetime, session: Session | None = None
) -> None:
    """Write down whom a scope erases, before anything of it is erased."""
    change = {"$max": {"at": to_micros(now)}}
    await database[ERASED].update_one({"_id": erased(scope)}, change, upsert=True, session=session)


async def erased_at(
    database: MongoDatabase, session: Session, project_id: str, user_id: str | None
) -> datetime | None:
    """Return when a user was erased last, alone or with the whole project; None: never."""
    owners = {"_id": {"$in": list(erasures_of(project_id, user_id))}}
    moments = [one["at"] async for one in database[ERASED].find(owners, session=session)]
    return maybe_moment(max(moments, default=None))
