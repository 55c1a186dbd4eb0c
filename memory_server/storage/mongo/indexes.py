"""The indexes of every collection, and how they come to be."""

from collections.abc import Mapping, Sequence

from pymongo import ASCENDING, IndexModel
from pymongo.errors import OperationFailure

from memory_server.storage.mongo.collections import SESSIONS, TURNS
from memory_server.storage.mongo.database import Collection, MongoDatabase

_UNDER_ANOTHER_NAME = 85
"""IndexOptionsConflict: an index of these keys is there and has another name."""

INDEXES: Mapping[str, Sequence[IndexModel]] = {
    SESSIONS: [],
    TURNS: [
        IndexModel(
            [("project_id", ASCENDING), ("session_id", ASCENDING), ("turn_seq", ASCENDING)],
            name="turns_of_session",
            unique=True,
        ),
    ],
}
"""By collection; a collection without any is listed too, for all are made at the start."""


async def create_indexes(database: MongoDatabase) -> None:
    """Make the collections and indexes that are missing; others may do the same at once."""
    for name, models in INDEXES.items():
        for model in models:
            with database.translated():
                await _create(database[name], model)


async def _create(collection: Collection, model: IndexModel) -> None:
    try:
        await collection.create_indexes([model])
    except OperationFailure as error:
        if error.code != _UNDER_ANOTHER_NAME:
            raise
