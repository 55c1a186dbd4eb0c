"""What operators see and do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_server.domain.erasure import Erasure, Traces
from memory_server.domain.job import Job, JobCounts, JobState
from memory_server.domain.memory import Memory, MemoryType
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import InvalidRequest
from memory_server.ports.clock import Clock
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A memory with its former versions and the turns it rests on."""

    memory: Memory
    history: Sequence[Memory]
    """Former versions, the oldest first."""
    turns: Mapping[str, Turn]
    """The turns of all versions' evidence by id; those whose words are gone are missing."""


class Administration:
    """Shows what is remembered and what work there is, retries, and erases."""

    def __init__(
        self, *, store: Store, clock: Clock, on_erased: Callable[[], None] = lambda: None
    ) -> None:
        """Join it; `on_erased` is called when an erasure left traces to be removed."""
        self._store = store
        self._clock = clock
        self._on_erased = on_erased

    async def remembered(
        self,
        scope: Scope,
        *,
        kind: MemoryType | None = None,
        custom_type: str | None = None,
        include_history: bool = False,
        limit: int = 1000,
    ) -> Sequence[Remembered]:
        """Return live memories with their evidence; with `include_history` former versions too.

        `custom_type`: of the kind `custom`, only the records of that type.
        """
        query = MemoryQuery(type=kind, key=custom_type, limit=limit)
        memories = await self._store.memories.find(scope, query)
        return await self._with_evidence(scope, memories, include_history=include_history)

    async def memory(
        self, scope: Scope, memory_id: str, *, include_history: bool = False
    ) -> Remembered:
        """Return one memory with its evidence, or raise `MemoryNotFound`.

        It may have been taken back or hidden; the id of a former version means the memory that
        it was a version of.
        """
        memory = await self._store.memories.get(scope, memory_id)
        if memory.superseded_by is not None:
            memory = await self._store.memories.get(scope, memory.superseded_by)
        [found] = await self._with_evidence(scope, [memory], include_history=include_history)
        return found

    async def memory_counts(self, scope: Scope) -> Mapping[str, int]:
        """Count the scope's live memories by type."""
        return await self._store.memories.counts(scope)

    async def jobs(
        self,
        project_id: str,
        *,
        state: JobState | None = None,
        user_id: str | None = None,
        limit: int = 100,
    ) -> Sequence[Job]:
        """Return jobs, in a state and of a user if they are named, the newest first."""
        return await self._store.jobs.list(project_id, state=state, user_id=user_id, limit=limit)

    async def counts(self, project_id: str | None = None) -> JobCounts:
        """Count jobs by state."""
        return await self._store.jobs.counts(project_id)

    async def retry_job(self, project_id: str, job_id: str) -> Job:
        """Queue a failed job again, or raise `JobNotFound`."""
        return await self._store.jobs.requeue(project_id, job_id, due_at=self._clock.now())

    async def retry_failed(self, project_id: str) -> int:
        """Queue every failed job of a project again; return how many there were."""
        return await self._store.jobs.requeue_failed(project_id, due_at=self._clock.now())

    async def erase(self, project_id: str, *, user_id: str | None) -> Erasure:
        """Delete everything a user has in the project.

        Their queued jobs go too, and what is at work for them is not stored.
        """
        if user_id is None:
            raise InvalidRequest(
                "user_id: name the user whose memory is to be erased, or say everybody=true"
            )
        return await self._erase(Scope(project_id=project_id, user_id=user_id))

    async def erase_everybody(self, project_id: str) -> Erasure:
        """Delete everything that the project remembers."""
        return await self._erase(Scope(project_id=project_id))

    async def _erase(self, scope: Scope) -> Erasure:
        counts = await self._store.erase(scope)
        traces = await self._store.traces()
        if traces is Traces.LEFT:
            self._on_erased()
        return Erasure(counts=counts, traces=traces)

    async def _with_evidence(
        self, scope: Scope, memories: Sequence[Memory], *, include_history: bool
    ) -> Sequence[Remembered]:
        """Return memories with what they rest on: one read of all histories, one of all turns."""
        histories: Mapping[str, Sequence[Memory]] = {}
        if include_history and memories:
            ids = [memory.id for memory in memories]
            histories = await self._store.memories.histories(scope, ids)
        versions = {
            memory.id: [*(one for one in histories.get(memory.id, ()) if one.id != memory.id)]
            for memory in memories
        }
        named = {
            memory.id: list(dict.fromkeys(_turn_ids((memory, *versions[memory.id]))))
            for memory in memories
        }
        wanted = list(dict.fromkeys(turn for ids in named.values() for turn in ids))
        read = await self._store.turns.get_many(scope.project_id, wanted) if wanted else []
        turns = {turn.id: turn for turn in read}
        return [
            Remembered(
                memory=memory,
                history=versions[memory.id],
                turns={one: turns[one] for one in named[memory.id] if one in turns},
            )
            for memory in memories
        ]


def _turn_ids(versions: Sequence[Memory]) -> Iterator[str]:
    for version in versions:
        for evidence in version.evidence:
            yield from evidence.turn_ids
