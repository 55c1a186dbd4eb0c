"""record_turn and search through HTTP, beside the bare SQLite and numpy cost of the same work.

    python -m benchmarks.serving [--memories 1000 10000] [--rounds 200]

Each figure stands beside its peer and its limit, all measured in the same run on one machine.
Exit status 1 if a limit is passed.
"""

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from benchmarks.process import Server
from memory_server.domain.embedding import EmbeddingSpace, Purpose, Vector
from memory_server.domain.memory import Fact, Memory
from memory_server.domain.scope import Visibility
from memory_server.ports.memories import Add
from memory_server.providers.embedding.factory import build_embedder
from memory_server.providers.system import SystemClock
from memory_server.settings import LOCAL_EMBEDDING
from memory_server.storage.sqlite.store import SqliteStore

TOPICS = "travel food music work family health garden books sport weather money code".split()
WORDS = [f"{topic}{number}" for topic in TOPICS for number in range(400)]
WRITERS = 32


@dataclass(frozen=True)
class Row:
    """One line of the report: milliseconds at the median and at the 95th percentile."""

    what: str
    p50: float
    p95: float
    peer: str = ""
    limit: float | None = None
    """The most that p50 may be, in milliseconds."""

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"{self.limit:8.2f}"
        verdict = "" if self.limit is None else "ok" if self.p50 <= self.limit else "OVER"
        return f"{self.what:<44}{self.p50:8.2f}{self.p95:8.2f}  {limit:>8} {verdict:<5}{self.peer}"


def main() -> int:
    """Measure, print, and say whether every limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    held = True
    print(f"{'milliseconds':<44}{'p50':>8}{'p95':>8}  {'limit':>8}       peer")
    for count in given.memories:
        print(f"-- {count} memories of one user")
        for row in asyncio.run(_measure(count, given.rounds)):
            print(row, flush=True)
            held = held and (row.limit is None or row.p50 <= row.limit)
    return 0 if held else 1


async def _measure(count: int, rounds: int) -> Sequence[Row]:
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice(WORDS, 18)) for _ in range(count)]
    queries = [" ".join(rng.choice(WORDS, 5)) for _ in range(rounds)]
    with tempfile.TemporaryDirectory() as directory:
        embedder = build_embedder(LOCAL_EMBEDDING, key=None)
        await embedder.check()
        vectors = _vectors(rng, count, embedder.space.dimension)
        await _seed(Path(directory), texts, vectors, embedder.space)
        bare_write = _bare_write(Path(directory) / "bare.db", texts[:1], rounds)
        bare_words, bare_vectors = _bare_search(
            Path(directory) / "bare.db", texts, vectors, queries
        )
        bare_embed = await _timed(
            [lambda q=q: embedder.embed([q], purpose=Purpose.QUERY) for q in queries]  # type: ignore[misc]
        )
        await embedder.close()
        with Server(Path(directory)) as server:
            async with httpx.AsyncClient(base_url=f"{server.url}/api/v1/memory") as client:
                search = await _timed([_searching(client, query) for query in queries])
                record = await _timed([_recording(client, n) for n in range(rounds)])
                together, rate = await _record_together(client, rounds * 5)
                # Turns are being promoted, embedded and extracted now.
                busy = await _timed([_searching(client, query) for query in queries])
    peer_search = _p(bare_words, 50) + _p(bare_vectors, 50) + _p(bare_embed, 50)
    return [
        _row("bare SQLite: insert, words, commit on disk", bare_write),
        _row(
            "record_turn over HTTP, one at a time",
            record,
            peer="bare insert + 4 ms",
            limit=_p(bare_write, 50) + 4,
        ),
        _row(f"record_turn over HTTP, {WRITERS} at once ({rate:.0f}/s)", together),
        _row("bare FTS5: five words, top 20", bare_words),
        _row("bare numpy: exact cosine, top 20", bare_vectors),
        _row("bare model: one query embedded", bare_embed),
        _row(
            "hybrid search over HTTP, top 20",
            search,
            peer="sum of the three + 15 ms",
            limit=peer_search + 15,
        ),
        _row("the same while what was recorded is extracted", busy),
    ]


def _vectors(rng: np.random.Generator, count: int, dimension: int) -> Vector:
    """Return clustered unit vectors, as texts of twelve topics have."""
    centres = rng.normal(size=(len(TOPICS), dimension))
    raw = centres[rng.integers(len(TOPICS), size=count)] + rng.normal(size=(count, dimension))
    unit: Vector = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    return unit


async def _seed(
    directory: Path, texts: Sequence[str], vectors: Vector, space: EmbeddingSpace
) -> None:
    clock = SystemClock()
    store = SqliteStore(directory / "memory.db", clock=clock)
    await store.open()
    now = clock.now()
    adds = [
        Add(
            memory=Memory(
                id=f"m{number:07}",
                project_id="local",
                user_id="ana",
                visibility=Visibility.PRIVATE,
                body=Fact(label=f"fact {number}", text=text),
                created_at=now,
                updated_at=now,
                valid_from=now,
                has_embedding=True,
            ),
            vector=vectors[number],
        )
        for number, text in enumerate(texts)
    ]
    for start in range(0, len(adds), 500):
        await store.memories.apply("local", adds[start : start + 500], space=space)
    await store.close()


def _bare_write(path: Path, texts: Sequence[str], rounds: int) -> list[float]:
    """Insert one row and its words in one transaction, synced, over and over."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter unicode61')")
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (body) VALUES (?)", (texts[0],))
        connection.execute("INSERT INTO words (body) VALUES (?)", (texts[0],))
        connection.execute("COMMIT")
        seconds.append(time.perf_counter() - start)
    connection.execute("DELETE FROM words")
    connection.close()
    return seconds


def _bare_search(
    path: Path, texts: Sequence[str], vectors: Vector, queries: Sequence[str]
) -> tuple[list[float], list[float]]:
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO words (body) VALUES (?)", ((text,) for text in texts))
    connection.commit()
    by_words, by_vectors = [], []
    statement = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 20"
    for number, query in enumerate(queries):
        match = " OR ".join(f'"{word}"' for word in query.split())
        start = time.perf_counter()
        connection.execute(statement, (match,)).fetchall()
        by_words.append(time.perf_counter() - start)
        probe = vectors[number % len(vectors)]
        start = time.perf_counter()
        scores = vectors @ probe
        best = np.argpartition(scores, -20)[-20:]
        best[np.argsort(scores[best])]
        by_vectors.append(time.perf_counter() - start)
    connection.close()
    return by_words, by_vectors


def _recording(client: httpx.AsyncClient, number: int) -> Callable[[], Awaitable[object]]:
    body = {
        "session_id": f"s{number % 50}",
        "user_id": "ana",
        "role": "user",
        "content": f"line {number} about {WORDS[number % len(WORDS)]}",
    }
    return lambda: _post(client, "/turns", body)


def _searching(client: httpx.AsyncClient, query: str) -> Callable[[], Awaitable[object]]:
    body = {"type": "semantic", "query": query, "user_id": "ana", "top_k": 20}
    return lambda: _post(client, "/search", body)


async def _post(client: httpx.AsyncClient, path: str, body: Mapping[str, object]) -> None:
    (await client.post(path, json=body)).raise_for_status()


async def _timed(calls: Sequence[Callable[[], Awaitable[object]]]) -> list[float]:
    """Call one after the other; the first tenth warms up and is not counted."""
    seconds = []
    for call in calls:
        start = time.perf_counter()
        await call()
        seconds.append(time.perf_counter() - start)
    return seconds[len(seconds) // 10 :]


async def _record_together(client: httpx.AsyncClient, count: int) -> tuple[list[float], float]:
    """Record with many writers at once; return each call's seconds and the turns a second."""
    numbers = iter(range(count))
    seconds: list[float] = []

    async def write() -> None:
        for number in numbers:
            start = time.perf_counter()
            await _recording(client, number)()
            seconds.append(time.perf_counter() - start)

    start = time.perf_counter()
    await asyncio.gather(*(write() for _ in range(WRITERS)))
    return seconds, count / (time.perf_counter() - start)


def _p(seconds: Sequence[float], percentile: float) -> float:
    return float(np.percentile(seconds, percentile)) * 1000


def _row(what: str, seconds: Sequence[float], *, peer: str = "", limit: float | None = None) -> Row:
    return Row(what, _p(seconds, 50), _p(seconds, 95), peer, limit)


if __name__ == "__main__":
    sys.exit(main())
