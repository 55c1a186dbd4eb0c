"""Taking ripe runs of turns out of short-term memory."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memory_server.domain.embedding import Purpose, Vector
from memory_server.domain.job import Job, JobKind
from memory_server.domain.memory import MemoryType
from memory_server.domain.promotion import PromotionPolicy, Run, next_run
from memory_server.domain.snapshot import SessionState, Snapshot, Trigger
from memory_server.domain.turn import Turn
from memory_server.errors import AlreadyPromoted, ProviderError
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.store import Store

logger = logging.getLogger(__name__)

SESSIONS_A_ROUND = 100


@dataclass(frozen=True, slots=True)
class Promoted:
    """What one round brought."""

    snapshots: Sequence[Snapshot]
    jobs: int


class Promotion:
    """Makes snapshots of ripe runs, each with one job for every enabled memory type."""

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        ids: Ids,
        policy: PromotionPolicy,
        enabled: Sequence[MemoryType],
        on_queued: Callable[[], None],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._enabled = enabled
        self._on_queued = on_queued
        self._seen_seq: dict[tuple[str, str], int] = {}

    async def promote_ripe(self) -> Promoted:
        """Promote every run that is ripe by size, idle time or change of topic."""
        now = self._clock.now()
        watches_topics = self._policy.topic_shift_threshold is not None
        sessions = await self._store.snapshots.waiting(
            min_turns=2 if watches_topics else self._policy.max_messages,
            idle_since=now - self._policy.stale_after,
            limit=SESSIONS_A_ROUND,
        )
        snapshots: list[Snapshot] = []
        jobs = 0
        for session in sessions:
            idle = session.last_activity <= now - self._policy.stale_after
            if not idle and self._is_unchanged(session):
                continue
            done = await self._promote_session(session, settled=Trigger.IDLE if idle else None)
            snapshots.extend(done.snapshots)
            jobs += done.jobs
        return Promoted(snapshots, jobs)

    async def flush(
        self, project_id: str, *, session_id: str | None = None, user_id: str | None = None
    ) -> Promoted:
        """Promote all that waits, of one session or of all, without waiting for it to be ripe."""
        snapshots: list[Snapshot] = []
        jobs = 0
        for session in await self._waiting(project_id, session_id):
            if user_id is not None and not await self._is_of_user(session, user_id):
                continue
            done = await self._promote_session(session, settled=Trigger.FLUSH)
            snapshots.extend(done.snapshots)
            jobs += done.jobs
        return Promoted(snapshots, jobs)

    async def _waiting(self, project_id: str, session_id: str | None) -> Sequence[SessionState]:
        if session_id is not None:
            session = await self._store.snapshots.session(project_id, session_id)
            return [session] if session and session.unpromoted else []
        found: dict[str, SessionState] = {}
        waiting = await self._store.snapshots.waiting(
            min_turns=1, idle_since=self._clock.now(), limit=1_000_000
        )
        for session in waiting:
            if session.project_id == project_id:
                found[session.session_id] = session
        return list(found.values())

    async def _is_of_user(self, session: SessionState, user_id: str) -> bool:
        head = await self._store.turns.run(
            session.project_id,
            session.session_id,
            first_seq=session.promoted_seq + 1,
            last_seq=session.promoted_seq + 1,
        )
        return bool(head) and head[0].user_id == user_id

    async def _promote_session(self, session: SessionState, *, settled: Trigger | None) -> Promoted:
        """Promote runs from the head of the session until what is left is not ripe."""
        snapshots: list[Snapshot] = []
        jobs = 0
        promoted_seq = session.promoted_seq
        while promoted_seq < session.last_seq:
            waiting = await self._store.turns.run(
                session.project_id,
                session.session_id,
                first_seq=promoted_seq + 1,
                last_seq=min(session.last_seq, promoted_seq + self._policy.max_messages),
            )
            vectors = await self._vectors(waiting) if waiting else {}
            run = next_run(waiting, self._policy, settled=settled, vectors=vectors)
            if run is None:
                break
            snapshot = self._snapshot_of(run)
            work = self._jobs_for(snapshot)
            try:
                await self._store.snapshots.promote(snapshot, work)
            except AlreadyPromoted:
                logger.info("session %s was promoted by another server", session.session_id)
                break
            self._on_queued()
            snapshots.append(snapshot)
            jobs += len(work)
            promoted_seq = snapshot.last_seq
        if self._policy.topic_shift_threshold is not None:
            self._seen_seq[session.project_id, session.session_id] = session.last_seq
        return Promoted(snapshots, jobs)

    def _is_unchanged(self, session: SessionState) -> bool:
        """Whether a session that was not ripe by topic has had no turn since it was looked at."""
        if session.unpromoted >= self._policy.max_messages:
            return False
        seen = self._seen_seq.get((session.project_id, session.session_id))
        return seen == session.last_seq

    async def _vectors(self, turns: Sequence[Turn]) -> Mapping[str, Vector]:
        """Give turns their vectors before they are promoted, if the configuration asks for it."""
        if not self._policy.embed_before_promotion:
            return {}
        wanting = [turn for turn in turns if turn.content.strip() and not turn.has_embedding]
        if self._policy.topic_shift_threshold is not None:
            wanting = [turn for turn in turns if turn.content.strip()]
        try:
            embedded = await self._embedder.embed(
                [turn.content for turn in wanting], purpose=Purpose.DOCUMENT
            )
        except ProviderError as error:
            # Promotion does not wait for vectors: words find the turns meanwhile.
            logger.warning("%d turns are promoted without vectors: %s", len(wanting), error.code)
            return {}
        vectors = {
            turn.id: vector
            for turn, vector in zip(wanting, embedded.vectors, strict=True)
            if vector is not None
        }
        if vectors:
            await self._store.turns.set_vectors(turns[0].project_id, vectors, self._embedder.space)
        return vectors

    def _snapshot_of(self, run: Run) -> Snapshot:
        first, last = run.turns[0], run.turns[-1]
        return Snapshot(
            id=self._ids.new(),
            project_id=first.project_id,
            session_id=first.session_id,
            user_id=first.user_id,
            agent_id=first.agent_id,
            first_seq=first.turn_seq,
            last_seq=last.turn_seq,
            trigger=run.trigger,
            created_at=self._clock.now(),
        )

    def _jobs_for(self, snapshot: Snapshot) -> Sequence[Job]:
        now = self._clock.now()
        return [
            Job(
                id=self._ids.new(),
                project_id=snapshot.project_id,
                kind=JobKind.EXTRACT,
                key=f"extract:{snapshot.id}:{kind.value}",
                payload={
                    "snapshot_id": snapshot.id,
                    "session_id": snapshot.session_id,
                    "type": kind.value,
                },
                user_id=snapshot.user_id,
                created_at=now,
                due_at=now,
            )
            for kind in self._enabled
        ]
