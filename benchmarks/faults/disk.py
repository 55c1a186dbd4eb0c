"""A disk that is full."""

import asyncio
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx

from benchmarks.faults.load import Load
from benchmarks.faults.world import Outcome, Skipped, for_seconds
from benchmarks.process import Server

LEFT_BYTES = 3_000_000


def full_disk(folder: Path, stack: ExitStack, writers: int) -> Outcome:
    """Fill the disk of an embedded store, and make room."""
    disk = stack.enter_context(_small_disk(folder / "disk"))
    server = stack.enter_context(Server(disk / "data", {"AGENTENGINE_RATE_LIMIT": "off"}))
    load = Load()
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(max(shutil.disk_usage(disk).free - LEFT_BYTES, 0)))
    late = for_seconds(60)
    asyncio.run(
        load.run([server.url], writers, lambda: load.refused["STORAGE_FULL"] > writers or late())
    )
    ready = httpx.get(f"{server.url}/ready")
    health = httpx.get(f"{server.url}/health")
    ballast.unlink()
    server.until_ready()
    before = len(load.acknowledged)
    asyncio.run(load.run([server.url], writers, for_seconds(1)))
    counts = server.until_idle()
    kept = _kept_in_file(disk / "data" / "memory.db")
    lost = sum(kept.get(place) != said for place, said in load.acknowledged.items())
    refused = dict(load.refused)
    said = (
        f"{len(load.acknowledged)} acknowledged, {before} of them before there was room, {lost} "
        f"lost, {len(kept)} stored; refused {refused}; {str(ready.json()['blocked_on'])[:160]}; "
        f"jobs {counts}"
    )
    well = (
        not lost
        and load.refused["STORAGE_FULL"] > 0
        and len(load.acknowledged) > before
        and not counts["failed"]
        and (ready.status_code, health.status_code)
        == (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.OK)
    )
    return well, said


def _kept_in_file(path: Path) -> Mapping[tuple[str, int], str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT session_id, turn_seq, content FROM turns").fetchall()
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
