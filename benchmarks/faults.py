"""Faults of servers, database, disk and clocks under load, and what is lost by them.

    python -m benchmarks.faults [NAME ...] [--writers 12]

Without names every fault is tried, which takes some six minutes:

server-killed     kill -9 of one of two servers while writers record by both, three times
database-killed   kill -9 of the database under load, started again on its files, three times
database-away     the database is away for a minute: what readiness and liveness say meanwhile
worker-paused     a server is stopped past its leases, and goes on when others did its jobs
two-starts        two servers start at the same moment on an empty database, five times
full-disk         a store on a small disk is filled up, then there is room (needs mounting)
clock-skew        two servers whose clocks differ by five minutes share work (needs `faketime`)

Every line says how much was acknowledged, how much of that is lost, and whatever else the fault is
about. The database is a SecantusDB process on its own files. Exit status 1 if anything is lost,
stored twice, or not said.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pymongo

from benchmarks.process import Server
from tests.mongo import DatabaseProcess

SESSIONS = 8
AWAY_SECONDS = 60.0
LEASE_SECONDS = 60.0
BASE = "faults"


class Skipped(Exception):
    """The fault cannot be brought about on this machine."""


@dataclass
class Load:
    """Turns that were acknowledged: by session and number, the content."""

    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    async def run(self, urls: Sequence[str], writers: int, until: Callable[[], bool]) -> None:
        """Let all writers record by turns through all servers until told to stop."""
        async with httpx.AsyncClient(timeout=90) as client:
            await asyncio.gather(
                *(self._write(client, urls, writer, until) for writer in range(writers))
            )

    async def _write(
        self, client: httpx.AsyncClient, urls: Sequence[str], writer: int, until: Callable[[], bool]
    ) -> None:
        number = 0
        while not until():
            number += 1
            session = f"s{(writer + number) % SESSIONS}"
            content = f"writer {writer} says line {number}, {os.urandom(4).hex()}"
            turn = {"session_id": session, "user_id": session, "role": "user", "content": content}
            try:
                answer = await client.post(
                    f"{urls[number % len(urls)]}/api/v1/memory/turns", json=turn
                )
            except httpx.TransportError:
                self.refused["connection"] += 1
                await asyncio.sleep(0.05)
                continue
            if answer.is_success:
                self.acknowledged[session, answer.json()["turn_seq"]] = content
            else:
                self.refused[str(answer.json().get("code"))] += 1
                await asyncio.sleep(0.05)


class World:
    """A database process, servers that share it, and what to read them by."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self.database = DatabaseProcess(folder / "database")
        self.database.start()
        stack.callback(self.database.stop)

    @property
    def environment(self) -> Mapping[str, str]:
        """What every server is told."""
        return {
            "MONGODB_URI": self.database.uri,
            "MONGOMEM_DB_NAME": BASE,
            "AGENTENGINE_OWNER_TOKEN_FILE": str(self.folder / "owner-token"),
            "AGENTENGINE_RATE_LIMIT": "off",
        }

    def server(self, name: str, **environment: str) -> Server:
        """Return a server that is ready, and ended at the end."""
        server = Server(self.folder / name, {**self.environment, **environment})
        self._stack.enter_context(server)
        return server

    def compare(self, load: Load) -> Mapping[str, int]:
        """Read the database; return how much is wrong, by what it is."""
        with pymongo.MongoClient[dict[str, Any]](self.database.uri) as client:
            (name,) = [one for one in client.list_database_names() if one.startswith(BASE)]
            return _wrong(client[name], load)


def main() -> int:
    """Bring the faults about, print what came of each, and say whether all was well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("faults", nargs="*", metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--writers", type=int, default=12)
    given = parser.parse_args()
    sound = True
    for name in given.faults or FAULTS:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            try:
                well, said = FAULTS[name](Path(folder), stack, given.writers)
            except Skipped as reason:
                well, said = True, f"skipped: {reason}"
        sound = sound and well
        print(f"{name:<16} {'ok  ' if well else 'NOT '} {said}", flush=True)
    return 0 if sound else 1


Outcome = tuple[bool, str]


def server_killed(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Kill one of two servers, three times over."""
    world, load = World(folder, stack), Load()
    steady = world.server("steady")
    for number in range(3):
        victim = Server(folder / f"victim-{number}", world.environment)
        victim.start()
        victim.until_ready()
        until = time.monotonic() + random.uniform(1.5, 3.0)  # noqa: S311 any moment will do

        def over(until: float = until, victim: Server = victim) -> bool:
            if time.monotonic() < until:
                return False
            with suppress(ProcessLookupError):
                victim.signal(signal.SIGKILL)
            return time.monotonic() > until + 1

        asyncio.run(load.run([steady.url, victim.url], writers, over))
        victim.wait()
    counts = steady.until_idle()
    wrong = world.compare(load)
    return not wrong and not counts["failed"], _said(load, wrong, f"jobs at the end {counts}")


def database_killed(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Kill the database and start it on its files, three times over."""
    world, load = World(folder, stack), Load()
    servers = [world.server("one"), world.server("two")]
    pids = [server.pid for server in servers]
    returns = [_crash_database(world, load, servers, writers) for _ in range(3)]
    counts = servers[0].until_idle()
    wrong = world.compare(load)
    same = pids == [server.pid for server in servers]
    longest = max(returns)
    said = f"written again {longest:.1f} s after the database was back at the latest"
    return not wrong and same and not counts["failed"], _said(load, wrong, said)


def _crash_database(world: World, load: Load, servers: Sequence[Server], writers: int) -> float:
    moments: dict[str, float] = {}
    crash = time.monotonic() + random.uniform(1.0, 2.0)  # noqa: S311 any moment will do

    def over() -> bool:
        now = time.monotonic()
        if now < crash:
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
    stop = time.monotonic() + 2
    asyncio.run(load.run([server.url], writers, lambda: time.monotonic() > stop))
    before = len(load.acknowledged)
    world.database.kill()
    gone = time.monotonic()
    asyncio.run(load.run([server.url], 2, lambda: time.monotonic() > gone + AWAY_SECONDS / 2))
    looks = _looks(server, gone + AWAY_SECONDS)
    during = len(load.acknowledged) - before
    world.database.start()
    back = time.monotonic()
    server.until_ready()
    ready = time.monotonic() - back
    stop = time.monotonic() + 2
    asyncio.run(load.run([server.url], writers, lambda: time.monotonic() > stop))
    wrong = world.compare(load)
    alive = all(one["health"] == httpx.codes.OK for one in looks)
    unready = all(one["ready"] == httpx.codes.SERVICE_UNAVAILABLE for one in looks)
    reason = str(looks[-1]["blocked_on"])[:160]
    said = (
        f"{during} acknowledged meanwhile, alive {alive}, not ready {unready} ({reason}); ready "
        f"{ready:.1f} s after it was back"
    )
    return not wrong and not during and alive and unready, _said(load, wrong, said)


def _looks(server: Server, until: float) -> list[Mapping[str, Any]]:
    looks: list[Mapping[str, Any]] = []
    while time.monotonic() < until:
        ready = httpx.get(f"{server.url}/ready", timeout=30)
        health = httpx.get(f"{server.url}/health", timeout=30)
        looks.append(
            {
                "ready": ready.status_code,
                "health": health.status_code,
                "blocked_on": ready.json()["blocked_on"],
            }
        )
        time.sleep(1)
    return looks


def worker_paused(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Stop a server past its leases with jobs at work."""
    world, load = World(folder, stack), Load()
    paused = world.server("paused")
    stop = time.monotonic() + 6
    asyncio.run(load.run([paused.url], writers, lambda: time.monotonic() > stop))
    held = _pause_at_work(world, paused)
    other = world.server("other")
    time.sleep(LEASE_SECONDS + 2)
    other.until_idle()
    paused.signal(signal.SIGCONT)
    paused.until_ready()
    counts = paused.until_idle()
    wrong = world.compare(load)
    lost = paused.log.count("lease")
    said = f"{held} jobs were held, lines of the log on lost leases: {lost}, jobs {counts}"
    return not wrong and held > 0 and not counts["failed"], _said(load, wrong, said)


def _pause_at_work(world: World, server: Server) -> int:
    """Stop a server at a moment when it holds jobs; return how many."""
    with pymongo.MongoClient[dict[str, Any]](world.database.uri) as client:
        (name,) = [one for one in client.list_database_names() if one.startswith(BASE)]
        jobs = client[name]["memory_jobs"]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            server.signal(signal.SIGSTOP)
            held = jobs.count_documents({"state": "running"})
            if held:
                return held
            server.signal(signal.SIGCONT)
            time.sleep(0.01)
    return 0


def two_starts(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Start two servers at once on an empty database, five times over."""
    world = World(folder, stack)
    del writers
    for number in range(5):
        name = f"{BASE}_{number}"
        servers = [
            Server(folder / f"{number}-{one}", {**world.environment, "MONGOMEM_DB_NAME": name})
            for one in range(2)
        ]
        for server in servers:
            server.start()
        for server in servers:
            stack.callback(server.__exit__, None, None, None)
            server.until_ready()
    with pymongo.MongoClient[dict[str, Any]](world.database.uri) as client:
        names = [one for one in client.list_database_names() if one.startswith(f"{BASE}_")]
        schemas = [client[one]["schema"].count_documents({}) for one in names]
    return len(names) == 5, f"5 pairs ready, {len(names)} databases, schema documents {schemas}"


def full_disk(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Fill the disk of an embedded store, and make room."""
    disk = stack.enter_context(_small_disk(folder / "disk"))
    server = Server(disk / "data", {"AGENTENGINE_RATE_LIMIT": "off"})
    server.start()
    stack.callback(server.__exit__, None, None, None)
    server.until_ready()
    load = Load()
    ballast = disk / "ballast"
    free = shutil.disk_usage(disk).free
    ballast.write_bytes(bytes(max(free - 3_000_000, 0)))
    deadline = time.monotonic() + 30
    full = lambda: load.refused["STORAGE_FULL"] > 3 or time.monotonic() > deadline  # noqa: E731
    asyncio.run(load.run([server.url], writers, full))
    ready = httpx.get(f"{server.url}/ready")
    reason = str(ready.json()["blocked_on"])[:160]
    ballast.unlink()
    server.until_ready()
    stop = time.monotonic() + 1
    before = len(load.acknowledged)
    asyncio.run(load.run([server.url], writers, lambda: time.monotonic() > stop))
    kept = _kept_in_file(disk / "data" / "memory.db")
    lost = sum(kept.get(place) != said for place, said in load.acknowledged.items())
    well = not lost and load.refused["STORAGE_FULL"] > 0 and len(load.acknowledged) > before
    refused = dict(load.refused)
    said = f"{len(load.acknowledged)} acknowledged, {lost} lost; refused {refused}; {reason}"
    return well and ready.status_code == httpx.codes.SERVICE_UNAVAILABLE, said


def clock_skew(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Let two servers whose clocks differ share the work."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        raise Skipped("libfaketime is not installed")
    world, load = World(folder, stack), Load()
    true = world.server("true")
    fast = world.server("fast", LD_PRELOAD=str(library), FAKETIME="+5m")
    stop = time.monotonic() + 6
    asyncio.run(load.run([true.url, fast.url], writers, lambda: time.monotonic() > stop))
    counts = true.until_idle()
    wrong = world.compare(load)
    with pymongo.MongoClient[dict[str, Any]](world.database.uri) as client:
        (name,) = [one for one in client.list_database_names() if one.startswith(BASE)]
        twice = client[name]["memory_jobs"].count_documents({"attempts": {"$gt": 1}})
    said = f"{twice} jobs were handed out more than once, jobs {counts}"
    return not wrong and not twice and not counts["failed"], _said(load, wrong, said)


def _wrong(database: Any, load: Load) -> Mapping[str, int]:
    stored = {
        (turn["session_id"], turn["turn_seq"]): turn["content"]
        for turn in database["memory_turns"].find({}, {"vectors": 0})
    }
    numbers: dict[str, list[int]] = {}
    for session, seq in stored:
        numbers.setdefault(session, []).append(seq)
    runs = list(database["memory_snapshots"].find({}))
    covered = Counter(
        (run["session_id"], seq)
        for run in runs
        for seq in range(run["first_seq"], run["last_seq"] + 1)
    )
    work = Counter(
        (job["payload"]["snapshot_id"], job["payload"]["type"])
        for job in database["memory_jobs"].find({"kind": "extract"})
    )
    found = {
        "lost": sum(stored.get(place) != said for place, said in load.acknowledged.items()),
        "stored twice": len(stored) - len(set(stored.values())),
        "gaps": sum(max(one) != len(one) for one in numbers.values()),
        "in two snapshots": sum(times > 1 for times in covered.values()),
        "snapshots without all their jobs": sum(
            sum(key[0] == run["id"] for key in work) != 4 for run in runs
        ),
    }
    return {what: number for what, number in found.items() if number}


def _said(load: Load, wrong: Mapping[str, int], more: str) -> str:
    lost = wrong.get("lost", 0)
    others = {what: number for what, number in wrong.items() if what != "lost"}
    return (
        f"{len(load.acknowledged)} acknowledged, {lost} lost, wrong {others or 'nothing'}; "
        f"refused {dict(load.refused)}; {more}"
    )


def _kept_in_file(path: Path) -> Mapping[tuple[str, int], str]:

    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT session_id, turn_seq, content FROM turns").fetchall()
    connection.close()
    return {(session, seq): content for session, seq, content in rows}


@contextmanager
def _small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None:
        raise Skipped("there is no `mount`")
    command = [mount, "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(place)]
    made = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 our own words
    if made.returncode:
        raise Skipped("mounting a small disk is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)  # noqa: S603, S607 our own words


FAULTS: Mapping[str, Callable[[Path, ExitStack, int], Outcome]] = {
    "server-killed": server_killed,
    "database-killed": database_killed,
    "database-away": database_away,
    "worker-paused": worker_paused,
    "two-starts": two_starts,
    "full-disk": full_disk,
    "clock-skew": clock_skew,
}


if __name__ == "__main__":
    sys.exit(main())
