"""The layout of a database is made by whoever comes first, and goes forward only."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import pytest
from pymongo import ASCENDING, IndexModel

from memory_server.errors import SchemaTooNew, StorageUnusable
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.collections import MEMBERS, SCHEMA
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.indexes import INDEXES
from memory_server.storage.mongo.schema import STEPS, create_indexes, migrate
from tests.clock import ManualClock
from tests.factories import a_member

FIELDS = [("project_id", ASCENDING), ("name", ASCENDING)]


@pytest.fixture
async def database(mongodb: str) -> AsyncIterator[MongoDatabase]:
    database = MongoDatabase(mongodb, f"memory_test_{uuid.uuid4().hex[:16]}")
    await database.open()
    yield database
    await database.client.drop_database(database.name)
    await database.close()


async def version(database: MongoDatabase) -> int:
    stored = await database[SCHEMA].find_one({"_id": "schema"})
    return 0 if stored is None else stored["version"]


async def indexes(database: MongoDatabase, collection: str) -> set[str]:
    return {index["name"] async for index in await database[collection].list_indexes()}


async def test_servers_that_start_at_once_on_an_empty_database_all_serve(
    mongodb: str, database: MongoDatabase, clock: ManualClock
) -> None:
    stores = [MongoStore(MongoDatabase(mongodb, database.name), clock=clock) for _ in range(5)]

    await asyncio.gather(*(store.open() for store in stores))

    for store in stores:
        await store.members.add(a_member())
    for name, models in INDEXES.items():
        wanted = {model.document["name"] for model in models}
        assert wanted <= await indexes(database, name)
    await asyncio.gather(*(store.close() for store in stores))


async def test_steps_are_numbered_from_two_without_gaps() -> None:
    assert [*STEPS] == [*range(2, len(STEPS) + 2)]


async def test_a_database_takes_the_steps_it_has_not_taken(database: MongoDatabase) -> None:
    taken: list[int] = []

    async def second(database: MongoDatabase) -> None:
        taken.append(2)

    async def third(database: MongoDatabase) -> None:
        taken.append(3)

    await migrate(database, {})
    assert await version(database) == 1
    await migrate(database, {2: second})
    await migrate(database, {2: second, 3: third})
    await migrate(database, {2: second, 3: third})

    assert (taken, await version(database)) == ([2, 3], 3)


async def test_a_step_that_fails_is_taken_again(database: MongoDatabase) -> None:
    tries: list[int] = []

    async def second(database: MongoDatabase) -> None:
        tries.append(await version(database))
        if len(tries) == 1:
            raise StorageUnusable("not yet")

    await migrate(database, {})
    with pytest.raises(StorageUnusable):
        await migrate(database, {2: second})
    await migrate(database, {2: second})

    assert (tries, await version(database)) == ([1, 1], 2)


async def test_a_newer_database_is_refused_and_left_alone(
    mongodb: str, database: MongoDatabase, clock: ManualClock
) -> None:
    await database[SCHEMA].insert_one({"_id": "schema", "version": 77})

    with pytest.raises(SchemaTooNew, match=r"77.*use the newer program"):
        await MongoStore(MongoDatabase(mongodb, database.name), clock=clock).open()

    assert await database.database.list_collection_names() == [SCHEMA]


async def test_an_index_that_does_the_same_under_another_name_is_accepted(
    database: MongoDatabase,
) -> None:
    await database["things"].create_index(FIELDS, name="theirs", unique=True)

    await create_indexes(database, {"things": [IndexModel(FIELDS, name="ours", unique=True)]})

    assert await indexes(database, "things") == {"_id_", "theirs"}


async def test_an_index_of_the_same_fields_that_does_something_else_stays_beside(
    database: MongoDatabase,
) -> None:
    await database["things"].create_index(FIELDS, name="theirs")

    await create_indexes(database, {"things": [IndexModel(FIELDS, name="ours", unique=True)]})

    assert await indexes(database, "things") == {"_id_", "theirs", "ours"}


async def test_an_index_of_the_same_name_with_other_options_is_named_with_what_to_do(
    database: MongoDatabase,
) -> None:
    await database["things"].create_index(FIELDS, name="ours")

    with pytest.raises(StorageUnusable, match=r'index ours of things.*dropIndex\("ours"\)'):
        await create_indexes(database, {"things": [IndexModel(FIELDS, name="ours", unique=True)]})


async def test_an_index_of_the_same_name_on_other_fields_is_named(database: MongoDatabase) -> None:
    await database["things"].create_index("other", name="ours")

    with pytest.raises(StorageUnusable, match="index ours of things"):
        await create_indexes(database, {"things": [IndexModel(FIELDS, name="ours")]})


async def test_indexes_are_made_where_a_collection_has_lost_one(database: MongoDatabase) -> None:
    await create_indexes(database)
    await database[MEMBERS].drop_indexes()

    await create_indexes(database)

    assert {"of_project", "of_user"} <= await indexes(database, MEMBERS)


async def test_a_database_of_another_program_is_not_taken_over(
    mongodb: str, database: MongoDatabase, clock: ManualClock
) -> None:
    await database["memory_semantic"].insert_one({"text": "theirs"})

    with pytest.raises(StorageUnusable, match=r"memory_semantic was written by another program"):
        await MongoStore(MongoDatabase(mongodb, database.name), clock=clock).open()

    assert await database.database.list_collection_names() == ["memory_semantic"]
