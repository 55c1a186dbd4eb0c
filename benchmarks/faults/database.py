"""Faults of the database: killed, and away for a while."""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from benchmarks.faults.load import Load
from benchmarks.faults.world import Outcome, World, for_seconds, outcome
from benchmarks.process import Server

AWAY_SECONDS = 60.0


def database_killed(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Kill the database and start it on its files, three times over."""
    world, load = World(folder, stack), Load()
    servers = [world.server("one"), world.server("two")]
    returns = [_crash_database(world, load, servers, writers) for _ in range(3)]
    counts = servers[0].until_idle()
    for server in servers:
        server.until_ready()  # the same processes: whoever ended fails here
    said = f"written again {max(returns):.1f} s after it was back at the latest; jobs {counts}"
    return outcome(load, world.judge(load), said)


def _crash_database(world: World, load: Load, servers: Sequence[Server], writers: int) -> float:
    """Return after how long turns were acknowledged again."""
    moments: dict[str, float] = {}
    crash = for_seconds(random.uniform(2.0, 4.0))  # noqa: S311 any moment will do

    def over() -> bool:
        now = time.monotonic()
        if not crash():
            return False
        if "killed" not in moments:
            moments["killed"] = now
            world.database.kill()
        elif "back" not in moments and now > moments["killed"] + 1:
            world.database.start()
            moments["back"] = time.monotonic()
            moments["known"] = len(load.acknowledged)
        elif "written" not in moments and len(load.acknowledged) > moments.get("known", 1e9):
            moments["written"] = now
        return "written" in moments and now > moments["written"] + 1

    asyncio.run(load.run([server.url for server in servers], writers, over))
    return moments["written"] - moments["back"]


def database_away(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Let the database be away for a minute."""
    world, load = World(folder, stack), Load()
    server = world.server("one")
    asyncio.run(load.run([server.url], writers, for_seconds(4)))
    before = len(load.acknowledged)
    world.database.kill()
    over = for_seconds(AWAY_SECONDS)
    asyncio.run(load.run([server.url], 2, for_seconds(AWAY_SECONDS / 2)))
    looks = [_look(server)]
    while not over():
        looks.append(_look(server))
        time.sleep(1)
    during = len(load.acknowledged) - before
    world.database.start()
    back = time.monotonic()
    server.until_ready()
    ready = time.monotonic() - back
    asyncio.run(load.run([server.url], writers, for_seconds(2)))
    counts = server.until_idle()
    alive = all(one["health"] == httpx.codes.OK for one in looks)
    unready = all(one["ready"] == httpx.codes.SERVICE_UNAVAILABLE for one in looks)
    said = (
        f"{during} acknowledged meanwhile, alive {alive}, not ready {unready} "
        f"({looks[-1]['blocked_on'][:120]}); ready {ready:.1f} s after it was back; jobs {counts}"
    )
    return outcome(load, world.judge(load), said, well=not during and alive and unready)


def _look(server: Server) -> Mapping[str, Any]:
    ready = httpx.get(f"{server.url}/ready", timeout=30)
    health = httpx.get(f"{server.url}/health", timeout=30)
    return {
        "ready": ready.status_code,
        "health": health.status_code,
        "blocked_on": str(ready.json()["blocked_on"]),
    }
