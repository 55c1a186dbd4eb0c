"""The version of the schema: forward only, and refused when it is newer than this program."""

from memory_server.errors import SchemaTooNew
from memory_server.storage.mongo.collections import SCHEMA
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.indexes import create_indexes

VERSION = 1


async def migrate(database: MongoDatabase) -> int:
    """Bring the database up to date and return its version; several servers may do so at once.

    Raises `SchemaTooNew` for a database that a newer program has written.
    """
    with database.translated():
        stored = await database[SCHEMA].find_one({"_id": "schema"})
    version = 0 if stored is None else int(stored["version"])
    if version > VERSION:
        raise SchemaTooNew(
            f"{database.location}: its schema is version {version}, this program knows {VERSION}; "
            "use the newer program"
        )
    await create_indexes(database)
    with database.translated():
        await database[SCHEMA].update_one(
            {"_id": "schema"}, {"$max": {"version": VERSION}}, upsert=True
        )
    return VERSION
