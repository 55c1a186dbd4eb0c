"""From one embedding model to another, while the former one answers."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memory_server.domain.embedding import Purpose
from memory_server.domain.job import Job, JobKind, JobState
from memory_server.domain.memory import embedded_text
from memory_server.domain.scope import Scope
from memory_server.domain.spaces import SpacesInUse, job_of
from memory_server.domain.words import embedding_text
from memory_server.errors import MemoryServerError
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.spaces import BareTurns, Given, Missing, Switch
from memory_server.ports.store import Store
from memory_server.project_config import LOCAL_DIMENSIONS, EmbeddingConfig

logger = logging.getLogger(__name__)

BATCH = 64
"""Texts of one step: its vectors are kept before the next one begins."""
PORTION = 100
"""Outdated vectors that are removed in one go."""
GRACE = timedelta(seconds=60)
"""How long outdated vectors stay: what began before the switch ends on them, on every server."""
NOT_HERE = timedelta(seconds=1)
"""When a job is tried again that a server does not have the model for yet."""
RESTED = timedelta(hours=1)
"""When a re-embedding that was given up is tried again: the provider may be another by then."""
STOPPED = "WORKER_STOPPED"


class Reembedding:
    """Makes the vectors of another model, lets it answer, and removes the former ones.

    What is written meanwhile has a vector of the model that answers, and gets the other by the
    same work, which ends only when nothing is left.
    """

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        target: Embedder | None,
        wanted: EmbeddingConfig,
        turns_alone: bool,
        bare: BareTurns,
        project_id: str,
        clock: Clock,
        ids: Ids,
        on_queued: Callable[[], None],
    ) -> None:
        """Prepare; `turns_alone`: turns are embedded without the one they answer.

        `bare` are the turns that are to have a vector though no model gave them one.
        """
        self._on_queued = on_queued
        self._store = store
        self._embedder = embedder
        self._target = target
        self._wanted = wanted
        self._turns_alone = turns_alone
        self._bare = bare
        self._project_id = project_id
        self._clock = clock
        self._ids = ids
        self._stopping = False
        self._problem: str | None = None

    async def check(self) -> None:
        """Return if the other model can be used, else raise the `ProviderError` that says why."""
        if self._target is not None:
            await self._target.check()

    async def begin(self, target: EmbeddingConfig) -> None:
        """Begin with another model; one that is under way goes on, at once if it was given up."""
        now = self._clock.now()
        spaces = await self._store.spaces.begin(target, self._job(target), now=now)
        for failed in await self._given_up(spaces):
            await self._store.jobs.requeue(self._project_id, failed.id, due_at=now)
        self._on_queued()

    async def report(self) -> Mapping[str, Any]:
        """Return what readiness says; empty when the configured model answers and nothing else is.

        `done` and `total` count texts; `problem` says what the work waits for.
        """
        spaces = await self._store.spaces.look()
        if spaces.target is not None:
            return {
                "state": "running",
                "from": spaces.active and spaces.active.space,
                "to": spaces.target.space,
                "done": spaces.done,
                "total": spaces.total,
                "problem": self._problem,
            }
        if spaces.active is not None and spaces.active.space != self._wanted.space:
            return {
                "state": "needed",
                "from": spaces.active.space,
                "to": self._wanted.space,
                "problem": "the vectors are of another model than the configured one; it answers "
                "on until: agentengine memory reembed",
            }
        if spaces.active is not None and spaces.active.space != self._embedder.space.name:
            # The store has switched; these services are about to be replaced.
            return {
                "state": "running",
                "from": self._embedder.space.name,
                "to": spaces.active.space,
                "done": spaces.total,
                "total": spaces.total,
                "problem": None,
            }
        return {"state": "removing"} if spaces.outdated else {}

    def stop(self) -> None:
        """Put the work back after the step at hand."""
        self._stopping = True

    async def work_off(self, job: Job) -> None:
        """Give what misses one a vector of the target, batch after batch, and switch at the end.

        Killed anywhere, it goes on where it was. A model that does not answer raises its
        `ProviderError`.
        """
        after = job.progress.get("after")
        while not self._stopping:
            spaces = await self._store.spaces.look()
            if job.payload.get("revision") != spaces.revision or spaces.target is None:
                await self._settle(job, "given up")
                return
            if self._target is None or self._target.space.name != spaces.target.space:
                await self._put_back(job, NOT_HERE)
                return
            batch = await self._store.spaces.missing(
                self._target.space.name, after=after, limit=BATCH, bare=self._bare
            )
            if not batch and after is None and await self._is_settled(job, spaces):
                return
            await self._make(batch, self._target)
            after = batch[-1].place if batch else None
            await self._store.jobs.save_progress(
                job, {"after": after, "done": spaces.done, "total": spaces.total}
            )
        await self._put_back(job, timedelta())

    async def tend(self) -> None:
        """See to it that what was begun is worked on, and that outdated vectors go."""
        spaces = await self._store.spaces.look()
        if spaces.target is not None:
            await self._revive(spaces, spaces.target)
        elif spaces.active is not None and spaces.outdated and self._is_old(spaces.changed_at):
            await self._catch_up(spaces.active)
            await self._drop()

    async def _is_settled(self, job: Job, spaces: SpacesInUse) -> bool:
        """Switch, and return whether the job has ended by it or was not wanted any more."""
        result = {"outcome": "switched", "done": spaces.done, "refused": spaces.refused}
        settling = replace(job, result=result)
        switched = await self._store.spaces.switch(settling, now=self._clock.now())
        if switched is Switch.DONE:
            logger.info("re-embedded: %d texts; the new model answers", spaces.done)
        return switched is Switch.DONE

    async def _make(self, batch: Sequence[Missing], embedder: Embedder) -> None:
        """Embed a batch and keep its vectors; what is gone meanwhile is left out."""
        texts = await self._texts(batch)
        known = [one for one in batch if (one.project_id, one.id) in texts]
        if not known:
            return
        try:
            embedded = await embedder.embed(
                [texts[one.project_id, one.id][0] for one in known], purpose=Purpose.DOCUMENT
            )
        except MemoryServerError as error:
            self._problem = str(error)
            raise
        self._problem = None
        given = [
            Given(
                project_id=one.project_id,
                id=one.id,
                vector=vector,
                revision=texts[one.project_id, one.id][1],
            )
            for one, vector in zip(known, embedded.vectors, strict=True)
        ]
        await self._store.spaces.give(given, embedder.space)

    async def _texts(
        self, batch: Sequence[Missing]
    ) -> Mapping[tuple[str, str], tuple[str, int | None]]:
        """Return what is embedded of each, and of a memory the revision it was read at."""
        texts: dict[tuple[str, str], tuple[str, int | None]] = {}
        for project_id in {one.project_id for one in batch}:
            mine = [one for one in batch if one.project_id == project_id]
            turns = {one.id: one.follows for one in mine if one.is_turn}
            before = [one for one in turns.values() if one is not None and not self._turns_alone]
            read = await self._store.turns.get_many(project_id, [*turns, *before])
            found = {turn.id: turn for turn in read}
            for turn_id in turns.keys() & found.keys():
                answered = None if self._turns_alone else found.get(turns[turn_id] or "")
                texts[project_id, turn_id] = embedding_text(found[turn_id], answered), None
            memories = await self._store.memories.get_many(
                Scope(project_id=project_id), [one.id for one in mine if not one.is_turn]
            )
            for memory in memories:
                texts[project_id, memory.id] = embedded_text(memory.body), memory.revision
        return texts

    async def _catch_up(self, active: EmbeddingConfig) -> None:
        """Give what was written on the former model, or without it, a vector of this one."""
        if self._embedder.space.name != active.space:
            return
        while batch := await self._store.spaces.missing(active.space, limit=BATCH, bare=self._bare):
            await self._make(batch, self._embedder)

    def _is_old(self, switched_at: datetime | None) -> bool:
        return switched_at is None or self._clock.now() - switched_at >= GRACE

    async def _drop(self) -> None:
        """Remove outdated vectors a few at a time, so that whoever writes meanwhile gets a turn."""
        dropped = 1
        while dropped and not self._stopping:
            dropped = await self._store.spaces.drop(limit=PORTION)
            await asyncio.sleep(0)

    async def _revive(self, spaces: SpacesInUse, target: EmbeddingConfig) -> None:
        """Queue the job again if it was erased; try again, after a rest, what was given up."""
        now = self._clock.now()
        job = job_of(self._job(target), spaces.revision)
        await self._store.jobs.enqueue([job])
        for failed in await self._given_up(spaces):
            self._problem = failed.error
            if failed.finished_at is None or now - failed.finished_at >= RESTED:
                await self._store.jobs.requeue(failed.project_id, failed.id, due_at=now)

    async def _given_up(self, spaces: SpacesInUse) -> Sequence[Job]:
        """Return the job of the present target if it failed."""
        failed = await self._store.jobs.list(self._project_id, state=JobState.FAILED)
        return [
            job
            for job in failed
            if job.kind is JobKind.REEMBED and job.payload.get("revision") == spaces.revision
        ]

    def _job(self, target: EmbeddingConfig) -> Job:
        now = self._clock.now()
        return Job(
            id=self._ids.new(),
            project_id=self._project_id,
            kind=JobKind.REEMBED,
            key="reembed",
            payload={"model": target.model, "dimension": target.dimension},
            created_at=now,
            due_at=now,
        )

    async def _put_back(self, job: Job, delay: timedelta) -> None:
        await self._store.jobs.retry(
            job,
            due_at=self._clock.now() + delay,
            code=STOPPED,
            reason="the server stopped, or does not have the model yet; another goes on",
        )

    async def _settle(self, job: Job, outcome: str) -> None:
        await self._store.jobs.complete(job, result={"outcome": outcome}, now=self._clock.now())


def origin(spaces: SpacesInUse, configured: EmbeddingConfig) -> EmbeddingConfig:
    """Return whose vectors a store holds that no one has noted this of.

    A built-in model is known by its name; any other is taken to be of the configured provider.
    """
    name = max(spaces.vectors, key=lambda one: spaces.vectors[one], default=configured.space)
    if configured.space in {name, *spaces.vectors} and spaces.vectors.get(
        configured.space, 0
    ) >= spaces.vectors.get(name, 0):
        return configured
    model, _, dimension = name.rpartition("@")
    if LOCAL_DIMENSIONS.get(model) == int(dimension):
        return EmbeddingConfig(provider="local", model=model, dimension=int(dimension))
    return replace(configured, model=model, dimension=int(dimension))


async def declared(store: Store, configured: EmbeddingConfig, clock: Clock) -> SpacesInUse:
    """Return the spaces of a store, noting whose vectors it holds where that is not known yet."""
    spaces = await store.spaces.look(counted=True)
    answering = configured if spaces.active is not None else origin(spaces, configured)
    return await store.spaces.declare(answering, now=clock.now())
