"""Bringing candidates together with what is known, in one transaction a snapshot and type."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.changes import Outcome, Provenance
from memory_server.domain.chunk import Source
from memory_server.domain.embedding import Purpose, Vector
from memory_server.domain.job import Job
from memory_server.domain.memory import Memory, MemoryType, Procedure
from memory_server.domain.plans import PLAN
from memory_server.domain.proposal import Proposal
from memory_server.domain.reconciliation import Action, Decision, Known, Neighbour, decide
from memory_server.domain.remarks import ABOUT_NOTHING_KNOWN, what_it_changes
from memory_server.domain.scope import Scope
from memory_server.domain.workbench import Workbench
from memory_server.errors import DuplicateMemory, MemoryNotFound, ProviderError, VersionConflict
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.embedder import Embedder
from memory_server.ports.memories import Add, MemoryQuery, Replace
from memory_server.ports.search import Selection
from memory_server.ports.store import Store

logger = logging.getLogger(__name__)

NEIGHBOURS = 8
"""How many near memories a candidate is compared with, beside those on the same matter."""
SAME_MATTER = 50
"""How many memories on the same matter are looked at; an exclusive one is found by identity."""
SAME_SUBJECT = 500
"""How many memories of a subject are looked at for what a retraction means."""
EPISODES_OF_SESSION = 500
"""How many episodes of a session are looked at for what was taken back."""
ATTEMPTS = 8
"""How often the decisions are made anew when others write the same memories meanwhile."""


class Reconciliation:
    """Decides for each candidate, then applies all decisions or none."""

    def __init__(self, *, store: Store, embedder: Embedder, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids

    async def reconcile(
        self,
        conversation: Conversation,
        candidates: Sequence[Candidate],
        *,
        extractor: str,
        settling: Job,
    ) -> None:
        """Apply the candidates of one snapshot and settle the job that brought them.

        The job's `result` gets the decisions. Raises `LeaseLost` when the job went to another
        worker, and `VersionConflict` when others kept changing the same memories.
        """

        async def settle(bench: Workbench) -> None:
            result: Mapping[str, Any] = {
                **settling.result,
                "decisions": [outcome.as_document() for outcome in bench.outcomes],
            }
            await self._apply(bench, settling=replace(settling, result=result))

        provenance = Provenance.of(conversation, extractor)
        await self._until_stored(provenance, candidates, settle, what=f"job {settling.id}")

    async def approve(
        self, proposal: Proposal, decided: Callable[[Sequence[Outcome]], Proposal], *, approval: str
    ) -> Proposal:
        """Apply what is proposed, and store what `decided` makes of the outcomes with it.

        It meets what is known now, as something that was said when it was. `approval` says who
        approved it, and stands with the reason in the memory's history. Raises `ProposalChanged`
        or `ProposalNotFound` if somebody changed, decided or erased the proposal meanwhile.
        """
        stored: list[Proposal] = []

        async def decide_on(bench: Workbench) -> None:
            stored[:] = [decided(bench.outcomes)]
            await self._apply(bench, deciding=stored[0])

        provenance = replace(proposal.provenance, approval=approval)
        what = f"proposal {proposal.id}"
        await self._until_stored(provenance, [proposal.candidate], decide_on, what=what)
        return stored[0]

    async def foresee(self, proposal: Proposal) -> Sequence[Outcome]:
        """Return what approving a proposal would do now; nothing is stored."""
        vectors = await self._vectors([proposal.candidate])
        bench = await self._decided(proposal.provenance, [proposal.candidate], vectors)
        return bench.outcomes

    async def _until_stored(
        self,
        provenance: Provenance,
        candidates: Sequence[Candidate],
        store: Callable[[Workbench], Awaitable[None]],
        *,
        what: str,
    ) -> None:
        """Decide and store, anew as often as others write the same memories meanwhile."""
        vectors = await self._vectors(candidates)
        attempt = 0
        while True:
            bench = await self._decided(provenance, candidates, vectors)
            try:
                await store(bench)
            except (VersionConflict, DuplicateMemory):
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
                logger.info("%s is decided anew: a memory changed meanwhile", what)
                continue
            return

    async def _decided(
        self,
        provenance: Provenance,
        candidates: Sequence[Candidate],
        vectors: Sequence[Vector | None],
    ) -> Workbench:
        bench = Workbench(provenance=provenance, now=self._clock.now(), new_id=self._ids.new)
        for candidate, vector in zip(candidates, vectors, strict=True):
            await self._place(bench, candidate, vector)
        bench.withdraw_from(await self._episodes_of(bench))
        return bench

    async def _place(self, bench: Workbench, candidate: Candidate, vector: Vector | None) -> None:
        known = Known(
            neighbours=await self._neighbours(bench, candidate, vector),
            ended=await self._ended(bench, candidate),
        )
        if candidate.is_remark:
            await self._place_remark(bench, candidate, known)
            return
        said_at = bench.provenance.said_at(candidate)
        decision = decide(
            candidate,
            known,
            identity=bench.identity(candidate),
            said_at=said_at,
            same_from=self._embedder.space.same,
        )
        history = await self._history(decision, said_at)
        bench.carry_out(candidate, decision, vector, history=history)

    async def _place_remark(self, bench: Workbench, remark: Candidate, known: Known) -> None:
        """Let a remark change what it is about; without that, nothing is remembered of it."""
        meant = what_it_changes(remark, known.neighbours, self._embedder.space)
        if meant is None:
            bench.carry_out(remark, ABOUT_NOTHING_KNOWN, None)
            return
        [vector] = await self._vectors([meant])
        await self._place(bench, meant, vector)

    async def _apply(
        self, bench: Workbench, *, settling: Job | None = None, deciding: Proposal | None = None
    ) -> None:
        operations = [
            Add(memory=change.memory, vector=change.vector, history_of=change.history_of)
            if change.is_new
            else Replace(
                memory=change.memory,
                former_id=change.former_id,
                vector=change.vector,
                drop_vector=change.former_id is not None and change.vector is None,
            )
            for change in bench.changes
        ]
        await self._store.memories.apply(
            bench.provenance.project_id,
            operations,
            space=self._embedder.space,
            settling=settling,
            deciding=deciding,
        )

    async def _vectors(self, candidates: Sequence[Candidate]) -> Sequence[Vector | None]:
        if not candidates:
            return []
        texts = [candidate.body.index_text for candidate in candidates]
        try:
            embedded = await self._embedder.embed(texts, purpose=Purpose.DOCUMENT)
        except ProviderError as error:
            # Stored without vectors, found by words; the embedding job catches up.
            logger.warning("%d memories are stored without vectors: %s", len(texts), error.code)
            return [None] * len(texts)
        return embedded.vectors

    async def _neighbours(
        self, bench: Workbench, candidate: Candidate, vector: Vector | None
    ) -> Sequence[Neighbour]:
        """Return what is known on the same matter, then what is near in meaning."""
        scope = _owner(bench.provenance)
        found: dict[str, Neighbour] = {}
        for query in _queries(candidate, bench.identity(candidate)):
            for memory in await self._store.memories.find(scope, query):
                found.setdefault(memory.id, Neighbour(memory, 0.0))
        if vector is not None:
            for memory, similarity in await self._near(scope, candidate, vector):
                found[memory.id] = Neighbour(memory, similarity)
        return bench.overlay(candidate, vector, list(found.values()))

    async def _ended(self, bench: Workbench, candidate: Candidate) -> Sequence[Memory]:
        """Return memories of the candidate's identity that were taken back or deleted."""
        query = MemoryQuery(
            type=candidate.type,
            identity_key=bench.identity(candidate),
            include_deleted=True,
            include_superseded=True,
            limit=NEIGHBOURS,
        )
        found = await self._store.memories.find(_owner(bench.provenance), query)
        return [memory for memory in found if not memory.is_live and not memory.superseded_by]

    async def _history(self, decision: Decision, said_at: datetime) -> Sequence[Memory]:
        """Return the stored versions of the memory whose history what was said completes."""
        target = decision.target
        completes = decision.is_past or decision.action is Action.REINFORCE
        if target is None or not completes or said_at >= target.valid_from:
            return []
        scope = Scope(project_id=target.project_id)
        try:
            return await self._store.memories.history(scope, target.id)
        except MemoryNotFound:  # made by an earlier candidate of the same snapshot
            return []

    async def _episodes_of(self, bench: Workbench) -> Sequence[Memory]:
        """Return the live episodes of the conversations that told what was taken back."""
        told = [evidence for memory in bench.withdrawn for evidence in memory.evidence]
        snapshots = {evidence.snapshot_id for evidence in told}
        query = MemoryQuery(type=MemoryType.EPISODIC, limit=EPISODES_OF_SESSION)
        found: dict[str, Memory] = {}
        for session_id in dict.fromkeys(evidence.session_id for evidence in told):
            scope = replace(_owner(bench.provenance), session_id=session_id)
            for memory in await self._store.memories.find(scope, query):
                if any(evidence.snapshot_id in snapshots for evidence in memory.evidence):
                    found[memory.id] = memory
        return list(found.values())

    async def _near(
        self, scope: Scope, candidate: Candidate, vector: Vector
    ) -> Sequence[tuple[Memory, float]]:
        selection = Selection(scope=scope, source=Source(candidate.type.value), limit=NEIGHBOURS)
        hits = await self._store.search.vector(selection, vector, self._embedder.space)
        cosines = {hit.id: hit.score for hit in hits}
        memories = await self._store.memories.get_many(scope, list(cosines))
        return [(one, cosines[one.id]) for one in memories if selection.holds(one)]


def _owner(provenance: Provenance) -> Scope:
    """Return the scope of one user's memories; of those of no user where there is none."""
    return Scope(
        project_id=provenance.project_id,
        user_id=provenance.user_id,
        userless=provenance.user_id is None,
    )


def _queries(candidate: Candidate, identity: str) -> Sequence[MemoryQuery]:
    """Return where the same matter may be known: by identity, by claim, by name."""
    kind = candidate.type
    queries = [MemoryQuery(type=kind, identity_key=identity, limit=NEIGHBOURS)]
    claim = candidate.claim
    if claim is not None and candidate.retracts:
        queries.append(MemoryQuery(type=kind, subject=claim.subject, limit=SAME_SUBJECT))
    elif claim is not None:
        queries += [
            MemoryQuery(type=kind, subject=claim.subject, attribute=attribute, limit=SAME_MATTER)
            for attribute in dict.fromkeys((claim.attribute, PLAN))
        ]
    if isinstance(candidate.body, Procedure):
        queries.append(MemoryQuery(type=kind, key=candidate.body.procedure, limit=NEIGHBOURS))
    return queries
