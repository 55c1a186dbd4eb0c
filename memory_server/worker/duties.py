"""What the server does by the clock."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from memory_server.domain.server import HEARTBEAT
from memory_server.ports.attempts import Attempts
from memory_server.ports.clock import Clock
from memory_server.ports.store import Store
from memory_server.project_config import SnapshotConfig
from memory_server.services.embedding import LateEmbedding
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.projects import ProjectKeeping
from memory_server.services.promotion import Promotion
from memory_server.services.readiness import ReadinessOfServer
from memory_server.services.reembedding import Reembedding
from memory_server.services.servers import Presence
from memory_server.services.spending import SpendingKeeping
from memory_server.worker.runner import Runner
from memory_server.worker.schedule import Duty

TIDY_SNAPSHOTS = 50
TIDY_TURNS = 500
"""How much is deleted in one go."""


ATTEMPTS_KEPT = timedelta(hours=1)
"""Longer than any window in which attempts are counted."""


def standing_duties(
    *, presence: Presence, executions: ExecutionKeeping, attempts: Attempts, clock: Clock
) -> list[Duty]:
    """Return what goes on while the server stops too: heartbeat, and care for invocations."""

    async def tidy() -> None:
        await presence.forget_old()
        alive = [server.id for server in presence.alive] if presence.is_steady else None
        await executions.tidy(alive=alive)
        await attempts.forget(before=clock.now() - ATTEMPTS_KEPT)

    return [
        Duty(name="presence", every=HEARTBEAT, act=presence.beat),
        Duty(name="executions", every=timedelta(seconds=1), act=executions.look_after),
        Duty(name="leftovers", every=timedelta(seconds=30), act=tidy),
    ]


def duties_of_every_server(readiness: ReadinessOfServer, store: Store) -> list[Duty]:
    """Return the checks of the providers, and the removal of traces from this machine's disk."""
    return [
        Duty(name="probing", every=timedelta(seconds=15), act=readiness.probe_doubtful),
        Duty(name="checking", every=timedelta(minutes=5), act=readiness.probe),
        Duty(name="traces", every=timedelta(seconds=10), act=store.remove_traces),
    ]


def duties_of_workers(
    *,
    store: Store,
    projects: ProjectKeeping,
    promotion: Promotion,
    late: LateEmbedding,
    reembedding: Reembedding,
    runner: Runner,
    spending: SpendingKeeping,
    clock: Clock,
    snapshot: SnapshotConfig,
) -> list[Duty]:
    """Return promotion, late embedding, re-embedding and expiry."""

    async def promote() -> None:
        await promotion.promote_ripe()

    async def embed_late() -> None:
        queued = [await late.sweep(project.id) for project in await projects.list()]
        if any(queued):
            runner.wake()

    async def tidy() -> None:
        before = days_before(clock.now(), snapshot.ttl_days)
        if snapshot.delete_promoted:
            await _to_the_end(lambda: store.snapshots.delete_promoted_turns(limit=TIDY_TURNS))
        await _to_the_end(lambda: store.snapshots.expire(before=before, limit=TIDY_SNAPSHOTS))
        await spending.forget_old()

    return [
        Duty(name="promotion", every=timedelta(seconds=1), act=promote),
        Duty(name="late embedding", every=timedelta(seconds=10), act=embed_late),
        Duty(name="re-embedding", every=timedelta(seconds=10), act=reembedding.tend),
        Duty(name="expiry", every=timedelta(seconds=60), act=tidy),
    ]


def days_before(moment: datetime, days: int) -> datetime:
    """Return the moment so many days before, or the first there is: a million days is for ever."""
    try:
        return moment - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


async def _to_the_end(some: Callable[[], Awaitable[int]]) -> None:
    """Do a little at a time until nothing is left, so that whoever writes meanwhile gets a turn."""
    left = True
    while left:
        left = await some() > 0
        await asyncio.sleep(0)
