"""The version of the schema and its steps: forward only, refused when newer than this program.

Collections and indexes are made wherever one is missing, whatever the version. A step is for what
is stored already; it must bear being taken twice, and by several servers at once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pymongo import IndexModel
from pymongo.errors import CollectionInvalid, OperationFailure

from memory_server.errors import SchemaTooNew, StorageUnusable
from memory_server.storage.mongo.collections import MEMORIES, SCHEMA
from memory_server.storage.mongo.database import Collection, MongoDatabase
from memory_server.storage.mongo.indexes import INDEXES

Step = Callable[[MongoDatabase], Awaitable[None]]


async def _nothing(database: MongoDatabase) -> None:
    """Only the version grows: programs from before must not open what may hold more now."""


STEPS: Mapping[int, Step] = {2: _nothing, 3: _nothing}
"""By the version that a step leads to; from 2 on, without gaps.

2: memories may be blocks. 3: there may be proposals, which an erasure takes along.
"""

_EXISTS = 48
"""NamespaceExists."""
_CONFLICTS = (85, 86)
"""IndexOptionsConflict, IndexKeySpecsConflict: an index of these keys or of this name is there."""
_OPTIONS = ("unique", "sparse", "partialFilterExpression", "expireAfterSeconds", "collation")


async def migrate(database: MongoDatabase, steps: Mapping[int, Step] = STEPS) -> int:
    """Bring the database up to date and return its version; several servers may do so at once.

    Raises `SchemaTooNew` for a database that a newer program has written.
    """
    newest = max(steps, default=1)
    version = await _version(database)
    if version > newest:
        raise SchemaTooNew(
            f"{database.location}: its schema is version {version}, this program knows {newest}; "
            "use the newer program"
        )
    await check_ours(database)
    await create_indexes(database)
    for number in range(max(version, 1) + 1, newest + 1):
        await steps[number](database)
        await _reached(database, number)
    if not version:
        await _reached(database, newest)
    return newest


async def create_indexes(
    database: MongoDatabase, indexes: Mapping[str, Sequence[IndexModel]] = INDEXES
) -> None:
    """Make the collections and indexes that are missing; others may do the same at once."""
    with database.translated():
        there = set(await database.database.list_collection_names())
        for name, models in indexes.items():
            if name not in there:
                await _make(database, name)
            await _index(database, database[name], models)


async def check_ours(database: MongoDatabase) -> None:
    """Refuse what another program wrote: by the rule of names its database may be the one found.

    Raises `StorageUnusable`.
    """
    if await _version(database):
        return
    with database.translated():
        there = set(await database.database.list_collection_names())
        for name in there.intersection(MEMORIES.values()):
            is_used = await database[name].find_one({}, {"_id": 1}) is not None
            if is_used and not await _version(database):  # nor has a server begun meanwhile
                raise StorageUnusable(
                    f"{database.location}: its collection {name} was written by another program; "
                    "name a database of this server's own with MONGOMEM_DB_NAME"
                )


async def _version(database: MongoDatabase) -> int:
    with database.translated():
        stored = await database[SCHEMA].find_one({"_id": "schema"})
    return 0 if stored is None else int(stored["version"])


async def _reached(database: MongoDatabase, version: int) -> None:
    with database.translated():
        await database[SCHEMA].update_one(
            {"_id": "schema"}, {"$max": {"version": version}}, upsert=True
        )


async def _make(database: MongoDatabase, name: str) -> None:
    try:
        await database.database.create_collection(name, check_exists=False)
    except (CollectionInvalid, OperationFailure) as error:
        if getattr(error, "code", None) not in (_EXISTS, None):
            raise


async def _index(
    database: MongoDatabase, collection: Collection, models: Sequence[IndexModel]
) -> None:
    """Make indexes by one command; one by one where another is in the way of any of them."""
    if not models:
        return
    try:
        await collection.create_indexes(models)
    except OperationFailure as error:
        if error.code not in _CONFLICTS:
            raise
        if len(models) == 1:
            await _accept(database, collection, models[0].document, error)
            return
        for model in models:
            await _index(database, collection, [model])


async def _accept(
    database: MongoDatabase,
    collection: Collection,
    wanted: Mapping[str, Any],
    error: OperationFailure,
) -> None:
    """Return if an index of another name does what the wanted one would do."""
    existing = [dict(index) async for index in await collection.list_indexes()]
    alike = [index for index in existing if [*index["key"].items()] == [*wanted["key"].items()]]
    if any(_options(index) == _options(wanted) for index in alike):
        return
    in_the_way = [*alike, *(index for index in existing if index["name"] == wanted["name"])]
    names = ", ".join(dict.fromkeys(index["name"] for index in in_the_way)) or "another"
    raise StorageUnusable(
        f"{database.location}: the index {names} of {collection.name} is in the way of the index "
        f"{wanted['name']} on {', '.join(wanted['key'])}: drop it "
        f'(db.{collection.name}.dropIndex("{names}")) and start again'
    ) from error


def _options(index: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: index[name] for name in _OPTIONS if index.get(name) not in (None, False)}
