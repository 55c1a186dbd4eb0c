"""What a database of a deployment holds, and which project made it."""

from memory_server.storage.mongo.collections import MEMORIES, SCHEMA, TURNS
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.schema import check_ours
from memory_server.storage.mongo.spaces import look
from memory_server.storage.standing import Holdings, Maker, Standing

_MAKER = {"_id": "maker"}


async def standing(
    database: MongoDatabase, *, claims: Maker | None = None, counts: bool = False
) -> Standing:
    """Look at an open database, and with `claims` note its maker where nobody is noted.

    Raises `StorageUnusable` for the database of another program.
    """
    await check_ours(database)
    return Standing(
        kind="mongodb",
        location=database.hosts,
        database=database.name,
        maker=await _maker(database, claims),
        holdings=await _holdings(database) if counts else None,
    )


async def _maker(database: MongoDatabase, claims: Maker | None) -> Maker | None:
    with database.translated():
        if claims is not None:
            noted = {"directory": claims.directory, "host": claims.host}
            await database[SCHEMA].update_one(_MAKER, {"$setOnInsert": noted}, upsert=True)
        found = await database[SCHEMA].find_one(_MAKER)
    if found is None:
        return None
    return Maker(directory=str(found["directory"]), host=str(found["host"]))


async def _holdings(database: MongoDatabase) -> Holdings:
    live = {"is_latest": True, "deleted": False}
    with database.translated():
        turns = await database[TURNS].count_documents({})
        memories = [await database[name].count_documents(live) for name in MEMORIES.values()]
    return Holdings(turns=turns, memories=sum(memories), spaces=await look(database, counted=True))
