"""Kill -9 the memory server under load, over and over, and count what was lost.

    python -m benchmarks.durability [--rounds 10] [--writers 16]

Each round starts a server on the same store, lets writers record turns until a random moment,
kills the process, starts another, and compares: every acknowledged turn must be there under its
number, no number may be there twice or be missing, and every promoted run must have its jobs.
Exit status 1 if anything is lost.
"""

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.process import Server

SESSIONS = 8
FINAL_TYPES = 4


def main() -> int:
    """Run the rounds, print one line each, and say whether anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--writers", type=int, default=16)
    given = parser.parse_args()
    acknowledged: dict[tuple[str, int], str] = {}
    lost = 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(1, given.rounds + 1):
            server = Server(Path(directory))
            before = len(acknowledged)
            asyncio.run(_load(server, given.writers, acknowledged))
            missing, gaps, orphans = _compare(Path(directory), acknowledged)
            lost += missing + gaps + orphans
            print(
                f"round {number:>2}: {len(acknowledged) - before:>6} acknowledged, "
                f"{missing} lost, {gaps} gaps, {orphans} runs without all their jobs",
                flush=True,
            )
        with Server(Path(directory)) as server:
            waiting = server.until_idle()
    print(f"{len(acknowledged)} acknowledged in all, {lost} lost; jobs at the end: {waiting}")
    return 1 if lost or waiting["failed"] or waiting["queued"] else 0


async def _load(server: Server, writers: int, acknowledged: dict[tuple[str, int], str]) -> None:
    """Record turns from all writers until the server is killed at a random moment."""
    with server:
        async with httpx.AsyncClient(base_url=f"{server.url}/api/v1/memory") as client:
            tasks = [
                asyncio.create_task(_write(client, writer, acknowledged))
                for writer in range(writers)
            ]
            await asyncio.sleep(random.uniform(0.5, 2.5))  # noqa: S311 - any moment will do
            os.kill(server.pid, signal.SIGKILL)
            await asyncio.gather(*tasks)


async def _write(
    client: httpx.AsyncClient, writer: int, acknowledged: dict[tuple[str, int], str]
) -> None:
    number = 0
    with suppress(httpx.TransportError):
        while True:
            number += 1
            session = f"s{(writer + number) % SESSIONS}"
            content = f"writer {writer} says line {number}, {os.urandom(4).hex()}"
            answer = await client.post(
                "/turns",
                json={
                    "session_id": session,
                    "user_id": session,
                    "role": "user",
                    "content": content,
                },
            )
            answer.raise_for_status()
            acknowledged[session, answer.json()["turn_seq"]] = content


def _compare(directory: Path, acknowledged: dict[tuple[str, int], str]) -> tuple[int, int, int]:
    """Read the store as the killed server left it; return lost turns, gaps, and bare snapshots."""
    connection = sqlite3.connect(directory / "memory.db")
    stored = {
        (session, seq): content
        for session, seq, content in connection.execute(
            "SELECT session_id, turn_seq, content FROM turns"
        )
    }
    missing = sum(stored.get(place) != content for place, content in acknowledged.items())
    gaps = sum(
        last != count
        for last, count in connection.execute(
            "SELECT max(turn_seq), count(*) FROM turns GROUP BY session_id"
        )
    )
    (orphans,) = connection.execute(
        "SELECT count(*) FROM snapshots AS s WHERE ? <> "
        "(SELECT count(*) FROM jobs AS j WHERE j.snapshot_id = s.id)",
        (FINAL_TYPES,),
    ).fetchone()
    connection.close()
    return missing, gaps, int(orphans)


if __name__ == "__main__":
    sys.exit(main())
