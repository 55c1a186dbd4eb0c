"""A database of an earlier schema keeps what it holds."""

from pathlib import Path

import pytest

from memory_server.domain.chunk import Source
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.search import Selection
from memory_server.storage.sqlite.database import Database
from memory_server.storage.sqlite.memories import SqliteMemories
from memory_server.storage.sqlite.schema import migrations
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import ManualClock
from tests.factories import PROJECT, SPACE, a_memory, a_scope, a_vector, an_episode


async def written(path: Path, version: int, clock: ManualClock) -> list[str]:
    """Store two memories with a schema of that version, and return their ids."""
    database = Database(path, migrations()[:version])
    await database.open()
    memories = [a_memory(), a_memory(body=an_episode())]
    operations = [Add(memory=memory, vector=a_vector(1)) for memory in memories]
    await SqliteMemories(database, clock).apply(PROJECT, operations, space=SPACE)
    await database.close()
    return [memory.id for memory in memories]


@pytest.mark.parametrize("version", [2])
async def test_memories_of_an_earlier_schema_are_kept_and_found(
    tmp_path: Path, clock: ManualClock, version: int
) -> None:
    fact, episode = await written(tmp_path / "memory.db", version, clock)
    store = SqliteStore(tmp_path / "memory.db", clock=clock)

    await store.open()

    facts = Selection(scope=a_scope(), source=Source.SEMANTIC, limit=5)
    assert (await store.describe())["schema_version"] == migrations()[-1].number
    assert [hit.id for hit in await store.search.text(facts, ["lisbon"])] == [fact]
    assert [hit.id for hit in await store.search.vector(facts, a_vector(1), SPACE)] == [fact]
    by_key = await store.memories.find(a_scope(), MemoryQuery(key="Moving"))
    assert [memory.id for memory in by_key] == [episode]
    await store.close()
