"""How long what one server wrote is not found by another, and what it takes to load an index.

    python -m benchmarks.staleness [--writes 300] [--documents 10000 100000]

Over the deployment that `MEMORY_TEST_MONGODB_URI` names, else a SecantusDB of its own, in which
another clock counts than in a MongoDB: beside each figure stands what the deployment itself takes
for the same, without the product. "heard" is when a bare change stream tells of the write. "under
load" beside eight writers of the same server. No limit is asserted; compare within a run.
"""

import argparse
import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from pymongo import AsyncMongoClient

from benchmarks.storage_writes import content, vector
from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.scope import Scope
from memory_server.domain.turn import NewTurn, Role
from memory_server.ports.search import Selection
from memory_server.providers.system import SystemClock
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.collections import TURNS
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import identity, packed, space_key
from memory_server.storage.mongo.turn_documents import turn_document
from tests.mongo import deployment

SPACE = EmbeddingSpace(model="benchmark", dimension=384)
MOMENT = datetime(2026, 1, 31, tzinfo=UTC)
SCOPE = Scope(project_id="p", user_id="u")
WRITERS = 8
NAME = "agentengine_benchmark"

_numbers = itertools.count()
_random = np.random.default_rng(7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writes", type=int, default=300)
    parser.add_argument("--documents", type=int, nargs="*", default=[10_000, 100_000])
    given = parser.parse_args()
    with deployment() as uri, tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(uri, Path(folder), given.writes, given.documents))


async def measure(uri: str, folder: Path, writes: int, sizes: Sequence[int]) -> None:
    async with AsyncMongoClient[dict[str, Any]](uri) as client:
        await client.drop_database(NAME)
        try:
            if writes:
                await staleness(uri, folder, client, writes)
            for documents in sizes:
                await client.drop_database(NAME)
                await loading(uri, folder / str(documents), client, documents)
        finally:
            await client.drop_database(NAME)


async def staleness(
    uri: str, folder: Path, client: AsyncMongoClient[dict[str, Any]], writes: int
) -> None:
    async with serving(uri, folder / "one") as one, serving(uri, folder / "other") as other:
        for load, writers in (("idle", 0), ("under load", WRITERS)):
            async with written_by(one, writers) as count:
                found = [await found_after(one, other) for _ in range(writes)]
                print(f"{load}, {count()} writes a second beside:")
                for name, times in zip(("written", "found here", "found there"), zip(*found)):  # noqa: B905
                    tell(name, times)
                heard = [await heard_after(one, client) for _ in range(writes)]
                tell("beside it: heard", heard)


async def found_after(one: MongoStore, other: MongoStore) -> tuple[float, float, float]:
    """Write a turn; return the ms it took, and after how many it was found, here and there."""
    turn = a_turn(word := f"needle{next(_numbers)}")
    selection = Selection(scope=SCOPE, source=Source.STM, limit=5)
    started = time.perf_counter()
    await one.turns.append(turn, vector=vector(_random, SPACE.dimension), space=SPACE)
    written = time.perf_counter()
    assert await one.search.text(selection, [word])
    here = time.perf_counter()
    while not await other.search.text(selection, [word]):  # noqa: ASYNC110 nothing tells of it
        await asyncio.sleep(0.001)
    there = time.perf_counter()
    return (written - started) * 1000, (here - written) * 1000, (there - written) * 1000


async def heard_after(one: MongoStore, client: AsyncMongoClient[dict[str, Any]]) -> float:
    """Write a turn; return after how many ms a bare change stream told of it."""
    turn = a_turn(f"needle{next(_numbers)}")
    wanted = [{"$match": {"documentKey._id": identity(turn.project_id, turn.id)}}]
    async with await client[NAME][TURNS].watch(wanted, max_await_time_ms=250) as stream:
        waiting = asyncio.create_task(anext(stream))
        await one.turns.append(turn, vector=vector(_random, SPACE.dimension), space=SPACE)
        written = time.perf_counter()
        await waiting
        return (time.perf_counter() - written) * 1000


async def loading(
    uri: str, folder: Path, client: AsyncMongoClient[dict[str, Any]], documents: int
) -> None:
    async with serving(uri, folder / "first"):
        await fill(client, documents)
    started, worked = time.perf_counter(), time.process_time()
    bare = [document async for document in client[NAME][TURNS].find()]
    read = time.perf_counter() - started
    print(f"{len(bare)} documents read bare in {read:.1f} s, {cpu(worked)}")
    del bare
    for what in ("loaded", "resumed"):
        started, worked = time.perf_counter(), time.process_time()
        async with serving(uri, folder / "loading") as store:
            seconds = time.perf_counter() - started
            size = sum(path.stat().st_size for path in (folder / "loading").glob("index-*"))
            described = await store.search.describe()
            print(
                f"{described['documents']} documents {what} in {seconds:.1f} s, {cpu(worked)}, "
                f"{size / 1e6:.0f} MB on the disk"
            )


@asynccontextmanager
async def serving(uri: str, directory: Path) -> AsyncIterator[MongoStore]:
    """Open a server's store and yield it once its index is whole."""
    store = MongoStore(MongoDatabase(uri, NAME), clock=SystemClock(), directory=directory)
    await store.open()
    try:
        while not (await store.search.describe())["is_ready"]:  # noqa: ASYNC110 nothing tells of it
            await asyncio.sleep(0.01)
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def written_by(store: MongoStore, writers: int) -> AsyncIterator[Any]:
    """Let writers write all the time; yield what tells how many writes a second they make."""
    started, done, stopping = time.perf_counter(), 0, asyncio.Event()

    async def write() -> None:
        nonlocal done
        while not stopping.is_set():
            turn = a_turn(content(_random), user_id="another")
            await store.turns.append(turn, vector=vector(_random, SPACE.dimension), space=SPACE)
            done += 1

    tasks = [asyncio.create_task(write()) for _ in range(writers)]
    try:
        yield lambda: round(done / (time.perf_counter() - started))
    finally:
        stopping.set()
        await asyncio.gather(*tasks)


async def fill(client: AsyncMongoClient[dict[str, Any]], documents: int) -> None:
    """Store turns as a server does, in sessions of 50."""
    for start in range(0, documents, 500):
        portion = []
        for number in range(start, min(start + 500, documents)):
            turn = a_turn(content(_random), session_id=f"session {number // 50}")
            stored = packed(vector(_random, SPACE.dimension))
            portion.append(
                turn_document(turn)
                | {"turn_seq": number % 50 + 1, "recorded_at": number}
                | {"has_embedding": True, "vectors": {space_key(SPACE): stored}}
            )
        await client[NAME][TURNS].insert_many(portion)


def a_turn(text: str, **changes: Any) -> NewTurn:
    number = next(_numbers)
    values: dict[str, Any] = {
        "id": f"t{number:07}",
        "project_id": SCOPE.project_id,
        "session_id": f"session {number % 20}",
        "user_id": SCOPE.user_id,
        "role": Role.USER,
        "content": text,
        "created_at": MOMENT,
    }
    return NewTurn(**values | changes)


def cpu(before: float) -> str:
    """Return the processor time of this process alone, which a busy machine does not stretch."""
    return f"{time.process_time() - before:.1f} s of its processor"


def tell(name: str, times: Sequence[float]) -> None:
    p50, p99 = np.quantile(times, (0.5, 0.99))
    print(f"  {name}: p50 {p50:.1f} ms, p99 {p99:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
