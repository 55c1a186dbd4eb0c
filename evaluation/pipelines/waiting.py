"""Seeing a conversation's background work to its end."""

import asyncio
import time

from evaluation.errors import WorkFailed
from evaluation.pipelines.pipeline import Timing
from evaluation.pipelines.place import Place
from evaluation.pipelines.recording import patiently
from evaluation.pipelines.stopwatch import milliseconds, timed
from memory_server.client import JobDocument, MemoryServerClient

POLL_SECONDS = 0.25
FLUSH_SECONDS = 3600.0
"""A long conversation is embedded while it is promoted."""
MOST_JOBS = 1000
"""As many as one list of jobs may hold."""
FEW = 3


async def settle(client: MemoryServerClient, place: Place, timing: Timing) -> None:
    """Promote what waits of a user, and return when none of their jobs is left to do.

    Raises `WorkFailed`, with the reasons, where a job failed for good.
    """
    await patiently(
        lambda: timed(timing, "flush", client.flush(user_id=place.user_id, seconds=FLUSH_SECONDS))
    )
    began = time.perf_counter()
    while True:
        if not await _left(client, place):
            break
        await asyncio.sleep(POLL_SECONDS)
    timing.setdefault("extract", []).append(milliseconds(time.perf_counter() - began))
    failed = await _jobs(client, place, "failed")
    if failed:
        reasons = dict.fromkeys(f"{job['error_code']}: {job['error']}" for job in failed)
        raise WorkFailed(
            f"{len(failed)} jobs of a conversation failed, so that its memory is not whole: "
            + "; ".join(list(reasons)[:FEW])
        )


async def _left(client: MemoryServerClient, place: Place) -> bool:
    """Whether any job of the user waits or runs; a list that is full may hide some."""
    for state in ("queued", "running"):
        listed = await client.jobs(state=state, limit=MOST_JOBS)
        if len(listed["jobs"]) == MOST_JOBS or any(_is_of(job, place) for job in listed["jobs"]):
            return True
    return False


async def _jobs(client: MemoryServerClient, place: Place, state: str) -> list[JobDocument]:
    listed = await client.jobs(state=state, limit=MOST_JOBS)
    return [job for job in listed["jobs"] if _is_of(job, place)]


def _is_of(job: JobDocument, place: Place) -> bool:
    return job["user_id"] == place.user_id
