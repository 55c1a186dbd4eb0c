"""What stores of one database do to each other: writers of one session, and claims of jobs.

    python -m benchmarks.contention [--writers 32] [--turns 10] [--jobs 500] [--users 50]

Three stores, as of three servers, in one process: writers on one session, then on sessions of
their own, with the transactions that were tried for each call; then eight claimers of all three
that hand out and complete every job. Beside them the bare transaction of a counter and a turn, by
the driver alone, with as many at once. Without `--uri` a SecantusDB process serves on the same
cores.

Exit status 1 if a number or a job is given out twice or not at all, or a call fails, as one does
that takes longer than the store allows (20 s).
"""

import argparse
import asyncio
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack, ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import numpy as np
import pymongo
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from benchmarks.fleet import bare_rate, database_of
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.turn import NewTurn, Role
from memory_server.ports.jobs import Jobs
from memory_server.providers.system import SystemClock
from memory_server.storage.mongo import MongoDatabase, MongoStore

T = TypeVar("T")
CLOCK = SystemClock()
STORES = 3
CLAIMERS = 8
LEASE = timedelta(minutes=5)


class Transactions(CommandListener):
    """Counts the transactions that are begun."""

    def __init__(self) -> None:
        self.begun = 0

    def started(self, event: CommandStartedEvent) -> None:
        self.begun += bool(event.command.get("startTransaction"))

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Count nothing."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Count nothing."""


def main() -> int:
    """Measure, print, and say whether everything happened exactly once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--uri")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        uri = given.uri or database_of(Path(folder), stack)
        rate = asyncio.run(bare_rate(uri, given.writers, given.turns))
        print(f"bare transactions of the driver, {given.writers} at once: {rate:.0f} a second")
        return 0 if asyncio.run(_measure(uri, given)) else 1


async def _measure(uri: str, given: argparse.Namespace) -> bool:
    counted = Transactions()
    pymongo.monitoring.register(counted)
    name = f"contention_{secrets.token_hex(4)}"
    async with AsyncExitStack() as stack:
        stores = [MongoStore(MongoDatabase(uri, name), clock=CLOCK) for _ in range(STORES)]
        for store in stores:
            await store.open()
            stack.push_async_callback(store.close)
        sound = True
        for sessions in (1, given.writers):
            sound = await _write(stores, given.writers, given.turns, sessions, counted) and sound
        sound = await _work(stores, given.jobs, given.users) and sound
    with pymongo.MongoClient[dict[str, object]](uri) as client:
        client.drop_database(name)
    return sound


async def _write(
    stores: Sequence[MongoStore], writers: int, turns: int, sessions: int, counted: Transactions
) -> bool:
    numbers: dict[str, list[int]] = {}
    seconds: list[float] = []

    async def write(writer: int) -> None:
        session = f"of {sessions}, {writer % sessions}"
        for turn in range(turns):
            store = stores[(writer + turn) % len(stores)]
            stored = await _timed(store.turns.append(_turn(session)), seconds)
            numbers.setdefault(session, []).append(stored.turn_seq)

    begun, started = counted.begun, time.perf_counter()
    await asyncio.gather(*map(write, range(writers)))
    rate = len(seconds) / (time.perf_counter() - started)
    tries = (counted.begun - begun) / len(seconds)
    sound = all(sorted(of) == [*range(1, len(of) + 1)] for of in numbers.values())
    _tell(
        f"{writers} writers, {sessions} sessions", rate, seconds, f"{tries:.2f} tries", sound=sound
    )
    return sound


async def _work(stores: Sequence[MongoStore], jobs: int, users: int) -> bool:
    now = CLOCK.now()
    given = [_job(number, f"user {number % users}", now) for number in range(jobs)]
    started = time.perf_counter()
    for start in range(0, jobs, 100):
        await stores[0].jobs.enqueue(given[start : start + 100])
    print(f"queued {jobs / (time.perf_counter() - started):.0f} jobs a second", flush=True)
    done: list[str] = []
    claims: list[float] = []
    completions: list[float] = []

    async def work(claimer: int) -> None:
        queue = stores[claimer % len(stores)].jobs
        while job := await _timed(_claim(queue), claims):
            done.append(job.id)
            await _timed(queue.complete(job, result={}, now=CLOCK.now()), completions)

    started = time.perf_counter()
    await asyncio.gather(*map(work, range(CLAIMERS)))
    rate = jobs / (time.perf_counter() - started)
    counts = await stores[0].jobs.counts()
    sound = sorted(done) == sorted(job.id for job in given) and counts.done == jobs
    _tell(f"{CLAIMERS} claimers, {jobs} jobs, claims", rate, claims, "", sound=sound)
    _tell("the same, completions", rate, completions, "", sound=sound)
    return sound


def _claim(queue: Jobs) -> Awaitable[Job | None]:
    now = CLOCK.now()
    return queue.claim(worker="w", kinds=[*JobKind], now=now, lease_until=now + LEASE)


async def _timed(call: Awaitable[T], seconds: list[float]) -> T:
    started = time.perf_counter()
    result = await call
    seconds.append(time.perf_counter() - started)
    return result


def _tell(what: str, rate: float, seconds: Sequence[float], more: str, *, sound: bool) -> None:
    p50, p99 = np.quantile(seconds, (0.5, 0.99)) * 1000
    load = os.getloadavg()[0]
    verdict = "each once" if sound else "NOT EACH ONCE"
    print(
        f"{what}: {rate:.0f} a second, p50 {p50:.0f} ms, p99 {p99:.0f} ms, {more} {verdict} "
        f"(load {load:.0f})",
        flush=True,
    )


def _turn(session: str) -> NewTurn:
    return NewTurn(
        id=secrets.token_hex(12),
        project_id="benchmark",
        session_id=session,
        user_id=session,
        role=Role.USER,
        content="I have seen one more place.",
        created_at=CLOCK.now(),
    )


def _job(number: int, user: str, now: datetime) -> Job:
    return Job(
        id=f"job {number}",
        project_id="benchmark",
        kind=JobKind.EXTRACT,
        key=f"key {number}",
        payload={"type": "semantic"},
        user_id=user,
        created_at=now,
        due_at=now,
        state=JobState.QUEUED,
    )


if __name__ == "__main__":
    sys.exit(main())
