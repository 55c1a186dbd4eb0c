"""Seeing a conversation's background work to its end."""

import asyncio
import time
from collections.abc import Callable, Mapping

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
    await work_off(client, place.user_id, timing)
    failed = (await client.jobs(user_id=place.user_id, state="failed", limit=MOST_JOBS))["jobs"]
    if failed:
        reasons = dict.fromkeys(f"{job['error_code']}: {job['error']}" for job in failed)
        raise WorkFailed(
            f"{len(failed)} jobs of a conversation failed, so that its memory is not whole: "
            + "; ".join(list(reasons)[:FEW])
        )


async def taken(client: MemoryServerClient, place: Place) -> Mapping[str, int]:
    """Add up what a user's jobs took of a model, of the newest thousand of them.

    Returns `calls`, `tokens_in` and `tokens_out`; zeros where rules extract.
    """
    jobs = (await client.jobs(user_id=place.user_id, limit=MOST_JOBS))["jobs"]
    results = [job.get("result") or {} for job in jobs]
    return {
        "calls": sum(result.get("calls", 0) for result in results),
        "tokens_in": sum(result.get("input_tokens", 0) for result in results),
        "tokens_out": sum(result.get("output_tokens", 0) for result in results),
    }


async def work_off(
    client: MemoryServerClient,
    user_id: str,
    timing: Timing,
    *,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Promote what waits of a user, and return when none of their jobs waits or runs.

    `told` hears why a job that failed waits to be tried again, each time it is looked at.
    """
    await patiently(
        lambda: timed(timing, "flush", client.flush(user_id=user_id, seconds=FLUSH_SECONDS))
    )
    began = time.perf_counter()
    while job := await _at_work(client, user_id):
        if job["error_code"] is not None:
            told(f"{job['error_code']}: {job['error']}")
        await asyncio.sleep(POLL_SECONDS)
    timing.setdefault("extract", []).append(milliseconds(time.perf_counter() - began))


async def _at_work(client: MemoryServerClient, user_id: str) -> JobDocument | None:
    """Return a job of the user that waits or runs, if there is one.

    One that is put back between two questions waits again, so that is asked twice.
    """
    for state in ("queued", "running", "queued"):
        for job in (await client.jobs(user_id=user_id, state=state, limit=1))["jobs"]:
            return job
    return None
