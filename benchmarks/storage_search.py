"""What a search of the local index costs, beside the bare work of the same machine.

    python -m benchmarks.storage_search [--documents 20000] [--rounds 100]

One user has the hundredth part of a project's documents, another the tenth, and the project is
searched as a whole. "bare" is, for vectors, one numpy product over the same bytes in memory; for
words, the same FTS5 query on the calling thread. "cold" is the first search after opening.
"claim" is a claim from a queue of as many jobs as there are documents. No limit is asserted;
compare within a run.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.storage_writes import content, vector
from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.job import Job, JobKind
from memory_server.domain.memory import Fact, Memory
from memory_server.domain.scope import Scope, Visibility
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.search import Selection
from memory_server.providers.system import SystemClock
from memory_server.storage.sqlite import SqliteStore

SPACE = EmbeddingSpace(model="benchmark", dimension=384)
MOMENT = datetime(2026, 1, 31, tzinfo=UTC)
SHARES = {"u1": 0.01, "u10": 0.1, "rest": 0.89}
TERMS = ("word3", "word17", "word105")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder) / "search.db", given.documents, given.rounds))


async def measure(path: Path, documents: int, rounds: int) -> None:
    store = SqliteStore(path, clock=SystemClock())
    await store.open()
    started = time.perf_counter()
    await fill(store, documents)
    print(f"{documents} memories written in {time.perf_counter() - started:.1f} s")
    await store.close()
    await store.open()
    print("what | scope | cold ms | p50 ms | p95 ms | bare p50 ms")
    for user, share in (("u1", "1%"), ("u10", "10%"), (None, "100%")):
        await searches(store, path, rounds, user=user, share=share)
    await claims(store, documents, rounds)
    await store.close()


async def searches(
    store: SqliteStore, path: Path, rounds: int, *, user: str | None, share: str
) -> None:
    random = np.random.default_rng(5)
    query = vector(random, SPACE.dimension)
    selection = Selection(
        scope=Scope(project_id="p", user_id=user), source=Source.SEMANTIC, limit=20
    )
    odd = Comparison("metadata.odd", Operator.EQ, 1)
    filtered = replace(selection, filter=odd)
    found = len(await store.search.text(replace(selection, limit=10**9), TERMS))
    cases: dict[str, tuple[Callable[[], Awaitable[object]], float]] = {
        "vector": (
            lambda: store.search.vector(selection, query, SPACE),
            bare_product(await count(store, selection), rounds),
        ),
        "vector, filtered": (lambda: store.search.vector(filtered, query, SPACE), float("nan")),
        f"words ({found} found)": (
            lambda: store.search.text(selection, TERMS),
            bare_words(path, user, rounds, TERMS),
        ),
    }
    for what, (once, bare) in cases.items():
        cold, *warm = [await timed(once) for _ in range(rounds + 1)]
        p50, p95 = np.quantile(warm, (0.5, 0.95))
        print(f"{what} | {share} | {cold:.2f} | {p50:.2f} | {p95:.2f} | {bare:.2f}", flush=True)


async def count(store: SqliteStore, selection: Selection) -> int:
    return len(await store.memories.find(selection.scope, MemoryQuery()))


def bare_product(rows: int, rounds: int) -> float:
    matrix = np.random.default_rng(3).normal(size=(rows, SPACE.dimension)).astype(np.float32)
    query = matrix[0].copy()
    return float(np.median([_clocked(lambda: matrix @ query) for _ in range(rounds)]))


def bare_words(path: Path, user: str | None, rounds: int, terms: Sequence[str]) -> float:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    body = " OR ".join(f'"{term}"' for term in terms)
    scope = connection.execute(
        "SELECT w.scope FROM words AS w JOIN documents AS d ON d.rowid = w.rowid"
        " WHERE :user IS NULL OR d.user_id = :user LIMIT 1",
        {"user": user},
    ).fetchone()[0]
    owner = scope.split()[1 if user else 2]
    match = f'scope : "{owner}" AND {{body neighbours}} : ({body})'
    statement = (
        "SELECT rowid, bm25(words, 0.0, 1.0, 0.3) AS score FROM words"
        " WHERE words MATCH ? ORDER BY score LIMIT 20"
    )
    times = [
        _clocked(lambda: connection.execute(statement, (match,)).fetchall()) for _ in range(rounds)
    ]
    connection.close()
    return float(np.median(times))


async def claims(store: SqliteStore, jobs: int, rounds: int) -> None:
    await store.jobs.enqueue([a_job(number) for number in range(jobs)])
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        job = await store.jobs.claim(
            worker="w",
            kinds=list(JobKind),
            now=MOMENT,
            lease_until=MOMENT + timedelta(hours=1),
        )
        times.append((time.perf_counter() - started) * 1000)
        if job is not None:
            await store.jobs.complete(job, result={}, now=MOMENT)
    p50, p95 = np.quantile(times, (0.5, 0.95))
    print(f"claim of {jobs} | - | {times[0]:.2f} | {p50:.2f} | {p95:.2f} | nan")


async def fill(store: SqliteStore, documents: int) -> None:
    random = np.random.default_rng(11)
    users = random.choice(list(SHARES), documents, p=list(SHARES.values()))
    for start in range(0, documents, 500):
        numbers = range(start, min(start + 500, documents))
        adds = [
            Add(
                memory=a_memory(number, str(users[number]), content(random)),
                vector=vector(random, SPACE.dimension),
            )
            for number in numbers
        ]
        await store.memories.apply("p", adds, space=SPACE)


def a_memory(number: int, user: str, text: str) -> Memory:
    return Memory(
        id=f"m{number:07}",
        project_id="p",
        user_id=user,
        visibility=Visibility.PRIVATE,
        body=Fact(label=f"label_{number}", text=text),
        metadata={"odd": number % 2},
        created_at=MOMENT,
        updated_at=MOMENT,
        valid_from=MOMENT,
    )


def a_job(number: int) -> Job:
    return Job(
        id=f"j{number:07}",
        project_id="p",
        kind=JobKind.EXTRACT,
        key=f"k{number}",
        payload={"type": "semantic"},
        user_id=f"user {number % 200}",
        created_at=MOMENT,
        due_at=MOMENT,
    )


async def timed(once: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await once()
    return (time.perf_counter() - started) * 1000


def _clocked(once: Callable[[], object]) -> float:
    started = time.perf_counter()
    once()
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
