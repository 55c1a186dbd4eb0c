"""One user's flood of writes, and what another user notices of it.

    python -m benchmarks.flood [--writers 16 100] [--seconds 10] [--memories 1000]

Measured in one run: another user's searches alone and beside the flood, and how long a session of
theirs takes to be extracted, alone and beside the flood. Exit status 1 if a limit is passed.
"""

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.process import Server

READER = "reader"
MOST_TIMES = 10.0
"""How much longer than alone a search (95th percentile) and an extraction may take."""
GIVE_UP_SECONDS = 120.0
RUN = 20
"""Turns that make a session ripe for extraction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the reader notices."""

    p50: float
    p95: float
    """Milliseconds of a search."""
    extraction: float
    """Seconds from the last turn of a session to the first memory of it."""
    written: float = 0.0
    """Turns a second of the flood, meanwhile."""
    refused: int = 0


def main() -> int:
    """Measure, print, and say whether every limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, nargs="+", default=[16, 100])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--memories", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, Server(Path(directory)) as server:
        asyncio.run(_fill(server.url, given.memories))
        alone = asyncio.run(_notice(server.url, "alone", given.seconds))
        _show("alone", alone)
        held = True
        for writers in given.writers:
            beside = _beside(server.url, writers, given.seconds)
            _show(f"beside {writers} writers", beside)
            held &= _holds(alone, beside)
    return 0 if held else 1


def _show(what: str, found: Figures) -> None:
    print(
        f"{what:<22}search p50 {found.p50:7.1f} ms, p95 {found.p95:7.1f} ms; "
        f"extracted in {found.extraction:5.1f} s; flood {found.written:6.0f} turns/s, "
        f"{found.refused} refused",
        flush=True,
    )


def _holds(alone: Figures, beside: Figures) -> bool:
    search, extraction = beside.p95 / alone.p95, beside.extraction / alone.extraction
    verdict = "ok" if max(search, extraction) <= MOST_TIMES else "OVER"
    print(
        f"{'':<22}{verdict}: {search:.1f} and {extraction:.1f} times as long; {MOST_TIMES:g} are "
        "the most",
        flush=True,
    )
    return verdict == "ok"


def _beside(url: str, writers: int, seconds: float) -> Figures:
    """Measure while another process writes; it stands for clients on machines of their own."""
    stop = multiprocessing.Event()
    counted: Any = multiprocessing.Array("l", 2)
    began = time.perf_counter()
    flood = multiprocessing.Process(target=_flood, args=(url, writers, stop, counted))
    flood.start()
    try:
        time.sleep(1.0)
        found = asyncio.run(_notice(url, f"beside-{writers}", seconds))
    finally:
        stop.set()
        flood.join()
    took = time.perf_counter() - began
    return Figures(
        p50=found.p50,
        p95=found.p95,
        extraction=found.extraction,
        written=counted[0] / took,
        refused=counted[1],
    )


def _flood(url: str, writers: int, stop: Event, counted: Any) -> None:
    async def write(client: httpx.AsyncClient, number: int) -> None:
        while not stop.is_set():
            turn = _turn("flooder", f"flood-{number}", counted[0])
            answer = await client.post("/api/v1/memory/turns", json=turn)
            counted[0 if answer.is_success else 1] += 1

    async def run() -> None:
        limits = httpx.Limits(max_connections=writers)
        async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
            await asyncio.gather(*(write(client, number) for number in range(writers)))

    asyncio.run(run())


def _turn(user: str, session: str, number: int) -> dict[str, Any]:
    said = f"I live in Porto. My favourite tea is sencha number {number}."
    return {"session_id": session, "user_id": user, "role": "user", "content": said}


async def _fill(url: str, memories: int) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        for first in range(0, memories, 16):
            await asyncio.gather(
                *(
                    client.post(
                        "/api/v1/memory/semantic",
                        json={
                            "user_id": READER,
                            "label": f"fact {number}",
                            "text": f"Place {number} has a market on day {number % 28}.",
                        },
                    )
                    for number in range(first, min(first + 16, memories))
                )
            )


async def _notice(url: str, session: str, seconds: float) -> Figures:
    """Search without a pause, while a session of the reader's is extracted."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        extraction = asyncio.create_task(_extraction(client, session))
        took: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or not extraction.done():
            took.append(await _timed(client, f"market of place {len(took)}"))
        return Figures(p50=_at(took, 50), p95=_at(took, 95), extraction=await extraction)


def _at(took: Sequence[float], percentile: float) -> float:
    return float(np.percentile(took, percentile)) * 1000


async def _timed(client: httpx.AsyncClient, query: str) -> float:
    body = {"type": "semantic", "query": query, "user_id": READER, "top_k": 10}
    began = time.perf_counter()
    answer = await client.post("/api/v1/memory/search", json=body)
    answer.raise_for_status()
    return time.perf_counter() - began


async def _extraction(client: httpx.AsyncClient, session: str) -> float:
    """Return how long it takes from the turn that fills a session to its first memory."""
    user = f"{READER}-{session}"
    for number in range(RUN):
        turn = _turn(user, session, number)
        (await client.post("/api/v1/memory/turns", json=turn)).raise_for_status()
    began = time.perf_counter()
    async with asyncio.timeout(GIVE_UP_SECONDS):
        while not await _is_remembered(client, user):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.1)
    return time.perf_counter() - began


async def _is_remembered(client: httpx.AsyncClient, user: str) -> bool:
    found = await client.get("/api/v1/memory/semantic", params={"user_id": user, "limit": 1})
    return bool(found.json()["entries"])


if __name__ == "__main__":
    sys.exit(main())
