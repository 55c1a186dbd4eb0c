"""Giving vectors to what had to be stored without."""

import contextlib
from dataclasses import replace
from datetime import datetime, timedelta

from memory_server.domain.embedding import Purpose
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import embedded_text
from memory_server.domain.scope import Scope
from memory_server.errors import JobNotFound, MemoryNotFound
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.memories import MemoryQuery, Replace
from memory_server.ports.store import Store

SWEEP = 500
"""How many memories without a vector one sweep looks at, the newest first."""


GIVEN_UP = timedelta(hours=1)
"""How long a failed job rests before it is queued again: the provider may be another by then."""
LOOK_EVERY = timedelta(minutes=5)
LOOKED_AT = 1000
"""How many failed jobs are looked at, the newest first."""


class LateEmbedding:
    """Finds memories without a vector, and works off the jobs that give them one."""

    def __init__(self, *, store: Store, embedder: Embedder, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._looked_at: dict[str, datetime] = {}

    async def sweep(self, project_id: str) -> int:
        """Queue one job for each memory that has no vector; return how many were queued.

        A text that cannot be embedded is not tried again while its job is kept. A job that failed
        for another reason is queued again after an hour.
        """
        return await self._queue_missing(project_id) + await self._queue_failed(project_id)

    async def _queue_missing(self, project_id: str) -> int:
        missing = await self._store.memories.find(
            Scope(project_id=project_id), MemoryQuery(without_embedding=True, limit=SWEEP)
        )
        now = self._clock.now()
        return await self._store.jobs.enqueue(
            [
                Job(
                    id=self._ids.new(),
                    project_id=project_id,
                    kind=JobKind.EMBED,
                    key=f"embed:{memory.id}:{memory.version}",
                    payload={"memory_id": memory.id, "type": memory.type_name},
                    user_id=memory.user_id,
                    created_at=now,
                    due_at=now,
                )
                for memory in missing
            ]
        )

    async def _queue_failed(self, project_id: str) -> int:
        now = self._clock.now()
        looked_at = self._looked_at.get(project_id)
        if looked_at is not None and now - looked_at < LOOK_EVERY:
            return 0
        self._looked_at[project_id] = now
        failed = await self._store.jobs.list(project_id, state=JobState.FAILED, limit=LOOKED_AT)
        rested = [
            job
            for job in failed
            if job.kind is JobKind.EMBED
            and job.finished_at is not None
            and now - job.finished_at >= GIVEN_UP
        ]
        for job in rested:
            with contextlib.suppress(JobNotFound):  # somebody retried it meanwhile
                await self._store.jobs.requeue(project_id, job.id, due_at=now)
        return len(rested)

    async def work_off(self, job: Job) -> None:
        """Embed the job's memory, unless it has a vector or is gone, and settle the job."""
        scope = Scope(project_id=job.project_id)
        try:
            memory = await self._store.memories.get(scope, job.payload["memory_id"])
        except MemoryNotFound:
            await self._settle(job, "gone")
            return
        if memory.has_embedding:
            await self._settle(job, "had a vector already")
            return
        embedded = await self._embedder.embed(
            [embedded_text(memory.body)], purpose=Purpose.DOCUMENT
        )
        vector = embedded.vectors[0]
        if vector is None:
            await self._settle(job, f"cannot be embedded: {embedded.reasons[0]}")
            return
        await self._store.memories.apply(
            job.project_id,
            [
                Replace(
                    memory=replace(memory, has_embedding=True, revision=memory.revision + 1),
                    vector=vector,
                )
            ],
            space=self._embedder.space,
            settling=replace(job, result={"outcome": "embedded"}),
        )

    async def _settle(self, job: Job, outcome: str) -> None:
        await self._store.jobs.complete(job, result={"outcome": outcome}, now=self._clock.now())
