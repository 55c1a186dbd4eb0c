"""Taking ripe runs of turns out of short-term memory."""

import itertools
import logging
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_server.domain.job import Job, JobKind
from memory_server.domain.limits import MAX_QUEUED_JOBS
from memory_server.domain.memory import MemoryType
from memory_server.domain.promotion import PromotionPolicy, Run, next_run
from memory_server.domain.scope import Scope
from memory_server.domain.snapshot import SessionState, Snapshot, Trigger
from memory_server.errors import AlreadyPromoted, StorageError
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.store import Store
from memory_server.services.containment import contained
from memory_server.services.turn_vectors import Asking, TurnVectors

logger = logging.getLogger(__name__)

PAGE = 100
"""Sessions read at once."""
PAGES_A_ROUND = 20
PASSES = 20
SHARE = 5
"""How many snapshots of one user are made before it is the others' turn: each may have to wait
for its turns to be embedded."""
SEEN = 10_000
"""Sessions remembered at most as looked at for a change of topic."""
TOLD = 20
"""Warnings of one flush at most."""


@dataclass(frozen=True, slots=True)
class Promoted:
    """What one round brought."""

    snapshots: Sequence[Snapshot]
    jobs: int
    warnings: Sequence[str] = ()
    """What a flush could not reach, and why."""


_User = tuple[str, str | None]
"""A project and a user in it."""


@dataclass(slots=True)
class _Round:
    """What a round has brought so far."""

    snapshots: list[Snapshot] = field(default_factory=list)
    jobs: int = 0
    warnings: list[str] = field(default_factory=list)
    asking: Asking = field(default_factory=Asking)
    queued: Counter[_User] = field(default_factory=Counter)
    """Jobs by user."""
    shares: Counter[_User] = field(default_factory=Counter)
    """Snapshots by user, in this pass over all sessions."""
    holds_back: bool = False
    """Whether a user's share was used up in this pass."""

    def begin_pass(self) -> None:
        self.shares.clear()
        self.holds_back = False

    def add(self, session: SessionState, snapshot: Snapshot, jobs: int) -> None:
        self.snapshots.append(snapshot)
        self.jobs += jobs
        self.queued[_user(session)] += jobs
        self.shares[_user(session)] += 1

    def passes_over(self, session: SessionState) -> bool:
        """Whether its user has to let others go first, or has enough work that waits."""
        if self.queued[_user(session)] >= MAX_QUEUED_JOBS:
            return True
        used_up = self.shares[_user(session)] >= SHARE
        self.holds_back |= used_up
        return used_up

    def promoted(self) -> Promoted:
        told, more = self.warnings[:TOLD], len(self.warnings) - TOLD
        if more > 0:
            told.append(f"and {more} more")
        return Promoted(self.snapshots, self.jobs, told)


class Promotion:
    """Makes snapshots of ripe runs, each with one job for every enabled memory type.

    A session that cannot be promoted is logged and holds up no other. A user with much work that
    waits gets no more: the turns stay in short-term memory until some of it is done.
    """

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
        self._clock = clock
        self._ids = ids
        self._policy = policy
        self._enabled = enabled
        self._on_queued = on_queued
        self._watches_topics = policy.topic_shift_threshold is not None
        self._vectors = TurnVectors(
            turns=store.turns, embedder=embedder, remembers=self._watches_topics
        )
        self._seen_seq: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._watched = 0
        """How many sessions that are not ripe were looked at for their topic in this turn."""

    async def promote_ripe(self) -> Promoted:
        """Promote every run that is ripe by size or idle time, then some by change of topic.

        Users take turns: each has a share of every pass over the sessions, so that nobody waits
        behind all that another one said.

        Topics are looked at page by page, one page a round, so that sessions without a change
        hide neither each other nor those that are ripe.
        """
        round_ = _Round()
        idle_since = self._clock.now() - self._policy.stale_after
        for _ in range(PASSES):
            round_.begin_pass()
            await self._promote_full_and_idle(round_, idle_since)
            if not round_.holds_back:
                break
        round_.begin_pass()
        if self._watches_topics:
            await self._promote_by_topic(round_, idle_since)
        return round_.promoted()

    async def flush(
        self, project_id: str, *, session_id: str | None = None, user_id: str | None = None
    ) -> Promoted:
        """Promote all that waits, of one session or of all, without waiting for it to be ripe.

        Turns are promoted in the order in which they were said. With `user_id` only runs of
        that user are: those behind another user's are left, and a warning names their session.
        """
        round_ = _Round()
        if session_id is not None:
            session = await self._store.snapshots.session(project_id, session_id)
            if session is not None and session.unpromoted:
                await self._flush_session(session, round_, user_id)
            return round_.promoted()
        async for session in self._each_waiting(1, self._clock.now()):
            if session.project_id == project_id:
                await self._flush_session(session, round_, user_id)
        return round_.promoted()

    async def _each_waiting(
        self, min_turns: int, idle_since: datetime, *, pages: int | None = None
    ) -> AsyncIterator[SessionState]:
        """Yield each session that waits once, however the list shrinks under promotion."""
        seen: set[tuple[str, str]] = set()
        skip = 0
        for _ in range(pages) if pages is not None else itertools.count():
            page = await self._store.snapshots.waiting(
                min_turns=min_turns,
                idle_since=idle_since,
                limit=PAGE,
                skip=skip,
                busy_at=None if pages is None else MAX_QUEUED_JOBS,
            )
            fresh = [session for session in page if _key(session) not in seen]
            if not fresh and len(page) < PAGE:
                return
            if not fresh:
                skip += PAGE
            for session in fresh:
                seen.add(_key(session))
                yield session

    async def _promote_full_and_idle(self, round_: _Round, idle_since: datetime) -> None:
        full = self._policy.max_messages
        async for session in self._each_waiting(full, idle_since, pages=PAGES_A_ROUND):
            idle = session.last_activity <= idle_since
            await self._attempt(session, round_, settled=Trigger.IDLE if idle else None)

    async def _promote_by_topic(self, round_: _Round, idle_since: datetime) -> None:
        page = await self._store.snapshots.waiting(
            min_turns=2,
            idle_since=idle_since,
            limit=PAGE,
            skip=self._watched,
            busy_at=MAX_QUEUED_JOBS,
        )
        before = len(round_.snapshots)
        for session in page:
            if self._seen_seq.get(_key(session)) == session.last_seq:
                continue
            if await self._attempt(session, round_) is not None:
                self._see(session)
        gone = len(round_.snapshots) - before
        self._watched = self._watched + max(PAGE - gone, 1) if len(page) == PAGE else 0

    def _see(self, session: SessionState) -> None:
        """Remember that a session has no change of topic up to its last turn."""
        self._seen_seq[_key(session)] = session.last_seq
        self._seen_seq.move_to_end(_key(session))
        while len(self._seen_seq) > SEEN:
            self._seen_seq.popitem(last=False)

    async def _flush_session(
        self, session: SessionState, round_: _Round, user_id: str | None
    ) -> None:
        last = await self._last_seq_of(session, user_id)
        if last <= session.promoted_seq:
            return
        reached = await self._attempt(session, round_, settled=Trigger.FLUSH, only=user_id)
        if reached is None:
            round_.warnings.append(
                f"session {session.session_id!r} could not be promoted; the server's log has why"
            )
        elif user_id is not None and reached < last:
            round_.warnings.append(
                f"session {session.session_id!r}: turns up to {last} wait behind another user's; "
                "flush the session to promote them all"
            )

    async def _last_seq_of(self, session: SessionState, user_id: str | None) -> int:
        """Return the number of the last turn in a session, of a user if one is named; or 0."""
        if user_id is None:
            return session.last_seq
        scope = Scope(project_id=session.project_id, session_id=session.session_id, user_id=user_id)
        newest = await self._store.turns.recent(scope, limit=1)
        return newest[0].turn_seq if newest else 0

    async def _attempt(
        self,
        session: SessionState,
        round_: _Round,
        *,
        settled: Trigger | None = None,
        only: str | None = None,
    ) -> int | None:
        """Promote a session, and return up to which turn it is promoted; None: it failed.

        What would fail every session, as a store that is away, is raised.
        """
        try:
            return await contained(self._promote_session(session, round_, settled, only))
        except StorageError as error:
            if error.retryable:
                raise
            logger.exception("session %s cannot be promoted", session.session_id)
        except Exception:  # one session's fault holds up no other
            logger.exception("session %s cannot be promoted", session.session_id)
        return None

    async def _promote_session(
        self, session: SessionState, round_: _Round, settled: Trigger | None, only: str | None
    ) -> int:
        """Promote runs from the head of the session until what is left is not to be promoted."""
        promoted_seq = session.promoted_seq
        while promoted_seq < session.last_seq:
            if settled is not Trigger.FLUSH and round_.passes_over(session):
                break
            run = await self._next_run(session, promoted_seq, round_, settled)
            if run is None or (only is not None and run.turns[0].user_id != only):
                break
            snapshot = self._snapshot_of(run)
            work = self._jobs_for(snapshot)
            try:
                await self._store.snapshots.promote(snapshot, work)
            except AlreadyPromoted:
                logger.debug("session %s was promoted meanwhile", session.session_id)
                if settled is not Trigger.FLUSH:
                    break
                # Others go by size: what is left behind their run waits for this flush.
                promoted_seq = await self._promoted_seq(session)
                continue
            self._on_queued()
            self._vectors.forget(run.turns)
            round_.add(session, snapshot, len(work))
            promoted_seq = snapshot.last_seq
        return promoted_seq

    async def _promoted_seq(self, session: SessionState) -> int:
        """Return up to which turn a session is promoted by now."""
        state = await self._store.snapshots.session(session.project_id, session.session_id)
        return session.last_seq if state is None else state.promoted_seq

    async def _next_run(
        self, session: SessionState, promoted_seq: int, round_: _Round, settled: Trigger | None
    ) -> Run | None:
        waiting = await self._store.turns.run(
            session.project_id,
            session.session_id,
            first_seq=promoted_seq + 1,
            last_seq=session.last_seq,
            limit=self._policy.max_messages,
        )
        embeds = self._policy.embed_before_promotion
        vectors = await self._vectors.of(waiting, round_.asking) if embeds else {}
        return next_run(waiting, self._policy, settled=settled, vectors=vectors)

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


def _key(session: SessionState) -> tuple[str, str]:
    return session.project_id, session.session_id


def _user(session: SessionState) -> _User:
    return session.project_id, session.user_id
