"""What recording and searching cost while a store grows, beside the bare work of the machine.

    python -m benchmarks.growth [--sizes 1000 10000 100000 1000000] [--rounds 30]

One store grows from size to size. At each, one user owns the hundredth part of the memories,
another the tenth, and the project is searched as one that owns all. "bare" is, for recording, one
synced insert of a row with its words into a file of its own; for meaning, one numpy product over
the same float32 rows in memory; for words, the same FTS5 query on the calling thread. Both legs
return 500 finds, as a hybrid search asks them to. "opening" is from a closed store to the first
answer, "memory" what the process holds after the searches, beside the bytes of the vectors.

Exit status 1 if a limit is passed. The last lines say where the limits of one machine are passed
and another index is the advice. A million memories take some 4 GB of disk and half an hour.
"""

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks.storage_search import SPACE, a_memory, bare_words
from benchmarks.storage_writes import a_turn, content, vector
from memory_server.domain.chunk import Source
from memory_server.domain.scope import Scope
from memory_server.ports.memories import Add
from memory_server.ports.search import Selection
from memory_server.providers.system import SystemClock
from memory_server.storage.sqlite import SqliteStore

SHARES = {"u1": 0.01, "u10": 0.1, "rest": 0.89}
OWNERS = (("u1", "1 %"), ("u10", "10 %"), (None, "100 %"))
DEPTH = 500
TERMS = ("word40", "word105", "word411")
"""In about one of 20, 70 and 290 memories."""
BATCH = 1000
SLOW_MS = 200.0
"""A search longer than this is noticed in a conversation."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: milliseconds at the median and the 95th percentile, the peer's, and the limit."""

    size: int
    what: str
    p50: float
    p95: float
    bare: float
    limit: float

    @property
    def held(self) -> bool:
        """Whether the limit holds."""
        return self.p50 <= self.limit

    def __str__(self) -> str:
        return (
            f"{self.size:>9} {self.what:<18}{self.p50:10.2f}{self.p95:10.2f}{self.bare:10.2f}"
            f"{self.limit:10.2f} {'ok' if self.held else 'OVER'}"
        )


def main() -> int:
    """Measure, print, and say whether every limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    print(f"{'memories':>9} {'milliseconds':<18}{'p50':>10}{'p95':>10}{'bare':>10}{'limit':>10}")
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(_grow(Path(folder), sorted(given.sizes), given.rounds))
    _advise(rows)
    return 0 if all(row.held for row in rows) else 1


async def _grow(folder: Path, sizes: Sequence[int], rounds: int) -> Sequence[Row]:
    path = folder / "growth.db"
    rows: list[Row] = []
    written = 0
    for size in sizes:
        store = SqliteStore(path, clock=SystemClock())
        await store.open()
        started = time.perf_counter()
        await _fill(store, written, size)
        rate = (size - written) / (time.perf_counter() - started)
        written = size
        await store.close()
        rows += await _measure(path, folder, size, rounds)
        print(f"{size:>9} memories were written at {rate:.0f} a second", flush=True)
    return rows


async def _measure(path: Path, folder: Path, size: int, rounds: int) -> Sequence[Row]:
    rows: list[Row] = []

    def add(what: str, times: Sequence[float], bare: float, limit: float) -> None:
        p50, p95 = np.quantile(times, (0.5, 0.95))
        rows.append(Row(size=size, what=what, p50=p50, p95=p95, bare=bare, limit=limit))
        print(rows[-1], flush=True)

    process = psutil.Process()
    store = SqliteStore(path, clock=SystemClock())
    opening = await _opened(store)
    bare_opening = _bare_opening(path)
    add("opening", [opening], bare_opening, bare_opening + 250)
    bare = float(np.median(_bare_inserts(folder / f"bare-{size}.db", rounds)))
    add("record", await _recorded(store, size, rounds), bare, bare + 4)
    resident = process.memory_info().rss
    for user, share in OWNERS:
        selection = Selection(
            scope=Scope(project_id="p", user_id=user), source=Source.SEMANTIC, limit=DEPTH
        )
        # The peer first, and let go of: its matrix is as large as ours.
        rows_in_scope = round(size * (SHARES[user] if user else 1))
        product = _bare_product(rows_in_scope, rounds)
        words = bare_words(path, user, min(rounds, 10), TERMS)
        query = vector(np.random.default_rng(5), SPACE.dimension)

        async def meaning(s: Selection = selection, q: np.ndarray = query) -> object:
            return await store.search.vector(s, q, SPACE)

        async def worded(s: Selection = selection) -> object:
            return await store.search.text(s, TERMS)

        add(f"meaning, {share}", await _timed(meaning, rounds), product, 2 * product + 10)
        add(f"words, {share}", await _timed(worded, rounds), words, 2 * words + 10)
    held = (process.memory_info().rss - resident) / 1e6
    index = await store.search.describe()
    size_mb = (await store.describe())["size_bytes"] / 1e6
    vectors = size * SPACE.dimension * 4 / 1e6
    print(
        f"{size:>9} memory: {held:.0f} MB more after the searches, of which matrices "
        f"{index['vector_memory_bytes'] / 1e6:.0f}; the vectors take {vectors:.0f} MB, the file "
        f"{size_mb:.0f} MB"
    )
    await store.close()
    return rows


async def _opened(store: SqliteStore) -> float:
    started = time.perf_counter()
    await store.open()
    selection = Selection(
        scope=Scope(project_id="p", user_id="u1"), source=Source.SEMANTIC, limit=DEPTH
    )
    await store.search.text(selection, TERMS)
    return (time.perf_counter() - started) * 1000


def _bare_opening(path: Path) -> float:
    started = time.perf_counter()
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.execute("SELECT count(*) FROM partitions").fetchone()
    connection.close()
    return (time.perf_counter() - started) * 1000


async def _recorded(store: SqliteStore, size: int, rounds: int) -> Sequence[float]:
    random = np.random.default_rng(7)
    numbers = iter(range(10 * rounds))

    async def once() -> object:
        turn_id = f"{size}-{next(numbers)}"
        return await store.turns.append(a_turn(turn_id, f"session {size}", content(random)))

    return await _timed(once, rounds)


async def _timed(once: Callable[[], Awaitable[object]], rounds: int) -> Sequence[float]:
    """Return milliseconds, without the first call; few rounds where one takes seconds."""
    times: list[float] = []
    await once()
    until = time.perf_counter() + 60
    while len(times) < rounds and (len(times) < 3 or time.perf_counter() < until):
        started = time.perf_counter()
        await once()
        times.append((time.perf_counter() - started) * 1000)
    return times


def _bare_inserts(path: Path, rounds: int) -> Sequence[float]:
    bare = sqlite3.connect(path, isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE VIRTUAL TABLE words USING fts5(body)")
    bare.execute("CREATE TABLE t (content TEXT)")
    random = np.random.default_rng(1)
    times = []
    for _ in range(rounds):
        text = content(random)
        started = time.perf_counter()
        bare.execute("BEGIN")
        bare.execute("INSERT INTO t VALUES (?)", (text,))
        bare.execute("INSERT INTO words VALUES (?)", (text,))
        bare.execute("COMMIT")
        times.append((time.perf_counter() - started) * 1000)
    bare.close()
    return times


def _bare_product(rows: int, rounds: int) -> float:
    matrix = np.empty((rows, SPACE.dimension), np.float32)
    matrix[:] = np.random.default_rng(3).standard_normal((1, SPACE.dimension), np.float32)
    query = matrix[0].copy()
    times = []
    for _ in range(min(rounds, 20)):
        started = time.perf_counter()
        scores = matrix @ query
        np.argpartition(scores, len(scores) - min(DEPTH, len(scores)))
        times.append((time.perf_counter() - started) * 1000)
    return float(np.median(times))


async def _fill(store: SqliteStore, written: int, size: int) -> None:
    random = np.random.default_rng(written)
    users = random.choice(list(SHARES), size - written, p=list(SHARES.values()))
    for start in range(written, size, BATCH):
        adds = [
            Add(
                memory=a_memory(number, str(users[number - written]), content(random)),
                vector=vector(random, SPACE.dimension),
            )
            for number in range(start, min(start + BATCH, size))
        ]
        await store.memories.apply("p", adds, space=SPACE)


def _advise(rows: Sequence[Row]) -> None:
    for _, share in OWNERS:
        slow = [row for row in rows if row.what.endswith(f", {share}") and row.p95 > SLOW_MS]
        at = min((row.size for row in slow), default=None)
        said = "never in this run" if at is None else f"from {at} memories on"
        print(f"a search of {share} of the memories takes longer than {SLOW_MS:.0f} ms {said}")


if __name__ == "__main__":
    sys.exit(main())
