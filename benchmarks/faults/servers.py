"""Faults of servers: killed, paused, started at the same moment, and with clocks that differ."""

import asyncio
import random
import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pymongo

from benchmarks.faults.load import Load
from benchmarks.faults.world import (
    BASE,
    Documents,
    Outcome,
    Skipped,
    World,
    for_seconds,
    outcome,
)
from benchmarks.process import Server
from memory_server.providers.system import SystemClock

SKEW_SECONDS = 300
PATIENCE_SECONDS = 180
RUNNING = {"state": "running"}


def server_killed(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Kill one of two servers, three times over."""
    world, load = World(folder, stack), Load()
    steady = world.server("steady")
    orphans = 0
    for number in range(3):
        victim = Server(folder / f"victim-{number}", world.environment)
        victim.start()
        victim.until_ready()
        moment = for_seconds(random.uniform(2.0, 4.0))  # noqa: S311 any moment will do
        asyncio.run(load.run([steady.url, victim.url], writers, _killed(victim, moment)))
        victim.wait()
        with world.opened() as database:
            orphans += database["memory_jobs"].count_documents(RUNNING)
    began = time.monotonic()
    counts = steady.until_idle()
    seconds = time.monotonic() - began
    said = f"{orphans} jobs ran at the kills, all done {seconds:.0f} s later; jobs {counts}"
    return outcome(load, world.judge(load), said)


def _killed(victim: Server, moment: Callable[[], bool]) -> Callable[[], bool]:
    """Return what kills a server at the moment, and is true a second later."""
    after: list[Callable[[], bool]] = []

    def over() -> bool:
        if not moment():
            return False
        if not after:
            after.append(for_seconds(1))
            with suppress(ProcessLookupError):
                victim.signal(signal.SIGKILL)
        return after[0]()

    return over


def worker_paused(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Stop a server past its leases in the midst of its work, and let it go on."""
    world, load = World(folder, stack), Load()
    paused, other = world.server("paused"), world.server("other")
    held, seconds = asyncio.run(_pause_under_load(world, load, paused, other, writers))
    counts = other.until_idle()
    judged = world.judge(load)
    said = (
        f"{held} jobs were held by the paused one and done by the other after {seconds:.0f} s; "
        f"jobs {counts}"
    )
    return outcome(load, judged, said, well=held > 0 and judged.twice >= held)


async def _pause_under_load(
    world: World, load: Load, paused: Server, other: Server, writers: int
) -> tuple[int, float]:
    """Return how many jobs were held, and after how long others did them."""
    over = asyncio.Event()
    writing = [
        asyncio.create_task(load.run([server.url], writers // 2, over.is_set))
        for server in (paused, other)
    ]
    held = await asyncio.to_thread(_pause_at_work, world, paused)
    began = time.monotonic()
    await asyncio.to_thread(_until_done, world, held)
    seconds = time.monotonic() - began
    paused.signal(signal.SIGCONT)
    await asyncio.to_thread(paused.until_ready)
    over.set()
    await asyncio.gather(*writing)
    return len(held), seconds


def _pause_at_work(world: World, server: Server) -> Sequence[Any]:
    """Stop a server at a moment when it holds jobs; return their `_id`s."""
    end = for_seconds(PATIENCE_SECONDS)
    with world.opened() as database:
        (known,) = database["servers"].find({"pid": server.pid})
        its_own = {"lease_owner": {"$regex": f"^{re.escape(known['_id'])}/"}}
        while not end():
            server.signal(signal.SIGSTOP)
            held = [one["_id"] for one in database["memory_jobs"].find(RUNNING | its_own)]
            if held:
                return held
            server.signal(signal.SIGCONT)
            time.sleep(0.02)
    raise SystemExit("the server to be paused held no job at any of the moments")


def _until_done(world: World, held: Sequence[Any]) -> None:
    end = for_seconds(PATIENCE_SECONDS)
    with world.opened() as database:
        while not end():
            done = {"_id": {"$in": [*held]}, "state": "done"}
            if database["memory_jobs"].count_documents(done) == len(held):
                return
            time.sleep(0.2)
    raise SystemExit("no other server did the jobs of the paused one")


def two_starts(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Start two servers at once on an empty database, five times over."""
    world = World(folder, stack)
    longest = 0.0
    recorded = 0
    for number in range(5):
        environment = {**world.environment, "MONGOMEM_DB_NAME": f"{BASE}_{number}"}
        servers = [Server(folder / f"{number}-{one}", environment) for one in range(2)]
        began = time.monotonic()
        for server in servers:
            server.start()
        for server in servers:
            stack.callback(server.__exit__, None, None, None)
            server.until_ready()
        longest = max(longest, time.monotonic() - began)
        load = Load()
        asyncio.run(load.run([server.url for server in servers], writers, for_seconds(0.5)))
        recorded += len(load.acknowledged) if not load.refused else 0
    with pymongo.MongoClient[Documents](world.database.uri) as client:
        names = [one for one in client.list_database_names() if one.startswith(f"{BASE}_")]
        schemas = [client[one]["schema"].count_documents({}) for one in names]
    said = f"{len(names)} databases, schema documents {schemas}, ready in {longest:.1f} s at most"
    return schemas == [1] * 5 and recorded > 0, f"{recorded} recorded by both; {said}"


def clock_skew(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Let two servers whose clocks differ share the work."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        raise Skipped("libfaketime is not installed")
    world, load = World(folder, stack), Load()
    true = world.server("true")
    fast = world.server("fast", LD_PRELOAD=str(library), FAKETIME=f"+{SKEW_SECONDS}s")
    skew = _seconds_ahead(fast) - _seconds_ahead(true)
    asyncio.run(load.run([true.url, fast.url], writers, for_seconds(8)))
    counts = true.until_idle()
    judged = world.judge(load)
    with world.opened() as database:
        last = database["memory_turns"].find_one(sort=[("created_at", -1)])
    ahead = last["created_at"] / 1e6 - _now()
    said = f"clocks {skew:.0f} s apart, the latest turn {ahead:.0f} s ahead"
    well = skew > SKEW_SECONDS - 5 and ahead < 5 and not judged.twice
    return outcome(load, judged, f"{said}; jobs {counts}", well=well)


def _seconds_ahead(server: Server) -> float:
    told = httpx.get(f"{server.url}/health").headers["date"]
    return parsedate_to_datetime(told).timestamp() - _now()


def _now() -> float:
    return SystemClock().now().timestamp()
