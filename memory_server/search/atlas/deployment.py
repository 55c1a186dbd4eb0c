"""The collections that are searched, and how a pipeline is run on them."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from pymongo.asynchronous.collection import AsyncCollection
from pymongo.read_concern import ReadConcern

from memory_server.search.atlas.pipelines import Pipeline


class Database(Protocol):
    """The collections of a deployment, and the seam of its errors."""

    def __getitem__(self, collection: str) -> AsyncCollection[dict[str, Any]]:
        """Return a collection."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Return what is held around calls of the driver: its errors become our own."""
        ...


async def run(
    collection: AsyncCollection[dict[str, Any]], pipeline: Pipeline
) -> list[dict[str, Any]]:
    """Return what a pipeline of search stages finds; the driver's errors are the caller's.

    No read concern is sent: the index, not the database, decides what is found.
    """
    plain = collection.with_options(read_concern=ReadConcern())
    async with await plain.aggregate(pipeline) as found:
        return await found.to_list()
