"""Which index searches the database: chosen when the store is opened."""

from pathlib import Path

from memory_server.ports.clock import Clock
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.mirror import MirroredIndex

VECTOR_MEMORY_BYTES = 256 * 1024 * 1024


def index_over(
    database: MongoDatabase,
    *,
    clock: Clock,
    directory: Path | None,
    vector_memory_bytes: int = VECTOR_MEMORY_BYTES,
) -> MirroredIndex:
    """Return the index of this server over the database; `directory` keeps its file."""
    return MirroredIndex(
        database, clock=clock, directory=directory, vector_memory_bytes=vector_memory_bytes
    )
