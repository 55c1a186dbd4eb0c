"""What it costs to record a turn durably, beside the bare transactions of the same machine.

    python -m benchmarks.storage_writes [--seconds 3] [--dimension 384]

"store" is the real path: turn, session counter, idempotency key, words with their neighbours and
a vector, answered when they are on the disk. "bare" is one INSERT of the same bytes in a
transaction of its own, with the same durability: what SQLite and the disk cost alone. "fsync"
is the disk alone. No limit is asserted; compare within a run.
"""

import argparse
import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.turn import NewTurn, Role
from memory_server.providers.system import SystemClock
from memory_server.storage.sqlite import SqliteStore

WORDS = [f"word{number}" for number in range(4000)]
CLIENTS = (1, 4, 32)
MOMENT = datetime(2026, 1, 31, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--dimension", type=int, default=384)
    given = parser.parse_args()
    print("what | clients | per second | p50 ms | p99 ms")
    with tempfile.TemporaryDirectory() as folder:
        report("fsync", 1, repeated(given.seconds, synced(Path(folder))))
        report("bare", 1, repeated(given.seconds, inserted(Path(folder), given.dimension)))
        for clients in CLIENTS:
            path = Path(folder) / f"store-{clients}.db"
            times = asyncio.run(recorded(path, given.seconds, clients, given.dimension))
            report("store", clients, times)


def report(what: str, clients: int, times: Sequence[float]) -> None:
    p50, p99 = np.quantile(times, (0.5, 0.99)) * 1000
    rate = clients * len(times) / sum(times)
    print(f"{what} | {clients} | {rate:.0f} | {p50:.2f} | {p99:.2f}", flush=True)


def repeated(seconds: float, once: Callable[[], object]) -> Sequence[float]:
    times = []
    until = time.perf_counter() + seconds
    while (started := time.perf_counter()) < until:
        once()
        times.append(time.perf_counter() - started)
    return times


def synced(folder: Path) -> Callable[[], object]:
    file = os.open(folder / "bare-file", os.O_RDWR | os.O_CREAT)

    def once() -> None:
        os.pwrite(file, bytes(4096), 0)
        os.fdatasync(file)

    return once


def inserted(folder: Path, dimension: int) -> Callable[[], object]:
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE t (content TEXT, vector BLOB)")
    random = np.random.default_rng(1)

    def once() -> None:
        row = (content(random), vector(random, dimension).tobytes())
        bare.execute("INSERT INTO t VALUES (?, ?)", row)

    return once


async def recorded(path: Path, seconds: float, clients: int, dimension: int) -> Sequence[float]:
    store = SqliteStore(path, clock=SystemClock())
    await store.open()
    space = EmbeddingSpace(model="benchmark", dimension=dimension)
    until = time.perf_counter() + seconds

    async def client(number: int) -> list[float]:
        random = np.random.default_rng(number)
        times: list[float] = []
        while (started := time.perf_counter()) < until:
            turn = a_turn(f"{number}-{len(times)}", f"session {number}", content(random))
            await store.turns.append(turn, vector=vector(random, dimension), space=space)
            times.append(time.perf_counter() - started)
        return times

    times = await asyncio.gather(*(client(number) for number in range(clients)))
    await store.close()
    return [one for each in times for one in each]


def a_turn(turn_id: str, session_id: str, text: str) -> NewTurn:
    return NewTurn(
        id=turn_id,
        project_id="benchmark",
        session_id=session_id,
        user_id=session_id,
        role=Role.USER,
        content=text,
        created_at=MOMENT,
        idempotency_key=turn_id,
    )


def content(random: np.random.Generator) -> str:
    return " ".join(WORDS[number] for number in random.zipf(1.3, 25) % len(WORDS))


def vector(random: np.random.Generator, dimension: int) -> Vector:
    direction = random.normal(size=dimension).astype(np.float32)
    return np.asarray(direction / np.linalg.norm(direction), np.float32)


if __name__ == "__main__":
    main()
