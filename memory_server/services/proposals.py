"""Review: what was extracted waits as proposals until somebody decides."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.changes import Outcome, Provenance
from memory_server.domain.job import Job
from memory_server.domain.proposal import (
    Proposal,
    ProposalState,
    already,
    approved,
    edited,
    proposed,
    rejected,
)
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Turn
from memory_server.errors import Conflict, NotFound, ProposalChanged
from memory_server.ports.clock import Clock, Ids
from memory_server.ports.proposals import ProposalCounts, ProposalQuery
from memory_server.ports.store import Store
from memory_server.services.reconciliation import Reconciliation

logger = logging.getLogger(__name__)

ATTEMPTS = 8
"""How often a decision is made anew when others change the same proposal meanwhile."""


class Proposing:
    """Stores the candidates of a conversation for somebody to decide on."""

    def __init__(self, *, store: Store, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def propose(
        self,
        conversation: Conversation,
        candidates: Sequence[Candidate],
        *,
        extractor: str,
        settling: Job,
    ) -> None:
        """Store the candidates as proposals, and settle the job that brought them.

        What was proposed of the same turns before is not proposed again, whatever was decided. A
        remark that names nothing is not proposed: nobody could tell what it is about.
        Raises `LeaseLost` when the job went to another worker.
        """
        provenance, now = Provenance.of(conversation, extractor), self._clock.now()
        proposals = [
            proposed(candidate, provenance, proposal_id=self._ids.new(), now=now)
            for candidate in candidates
            if not candidate.is_remark
        ]
        result = {**settling.result, "proposed": len(proposals)}
        added = await self._store.proposals.add(
            settling.project_id, proposals, settling=replace(settling, result=result)
        )
        logger.info("job %s ends with %d new proposals", settling.id, len(added))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A proposal with the turns it rests on, and what approving it would do now."""

    proposal: Proposal
    turns: Mapping[str, Turn]
    """By id; those deleted meanwhile are missing."""
    foreseen: Sequence[Outcome] = ()
    """Empty where it is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What became of several proposals."""

    proposals: Sequence[Proposal]
    failed: Mapping[str, Conflict | NotFound] = field(default_factory=dict)
    """By id, those that could not be decided, and why."""


class Reviewing:
    """Shows what waits, and carries out what is decided. Every call keeps to its scope's user."""

    def __init__(
        self, *, store: Store, reconciliation: Reconciliation, clock: Clock, approval: str
    ) -> None:
        """Join it; `approval` is how what is extracted now is approved: automatic or manual."""
        self._store = store
        self._proposals = store.proposals
        self._reconciliation = reconciliation
        self._clock = clock
        self._approval = approval

    async def report(self) -> Mapping[str, Any]:
        """Return what readiness reports: `approval`, and how many are `pending` on the server."""
        counts = await self._proposals.counts()
        return {"approval": self._approval, "pending": counts.pending}

    async def find(self, scope: Scope, query: ProposalQuery) -> Sequence[Reviewed]:
        """Return matching proposals with their turns, the one that waits longest first."""
        found = await self._proposals.find(scope, query)
        ids = list(dict.fromkeys(turn for one in found for turn in one.candidate.turn_ids))
        turns = await self._store.turns.get_many(scope.project_id, ids) if ids else []
        known = {turn.id: turn for turn in turns}
        return [
            Reviewed(
                proposal=one,
                turns={turn: known[turn] for turn in one.candidate.turn_ids if turn in known},
            )
            for one in found
        ]

    async def get(self, scope: Scope, proposal_id: str) -> Reviewed:
        """Return one proposal, with what approving it would do, or raise `ProposalNotFound`."""
        proposal = await self._proposals.get(scope, proposal_id)
        ids = list(proposal.candidate.turn_ids)
        turns = await self._store.turns.get_many(scope.project_id, ids) if ids else []
        waits = proposal.state is ProposalState.PENDING
        return Reviewed(
            proposal=proposal,
            turns={turn.id: turn for turn in turns},
            foreseen=await self._reconciliation.foresee(proposal) if waits else (),
        )

    async def counts(self, project_id: str | None = None) -> ProposalCounts:
        """Count proposals, of one project or of all."""
        return await self._proposals.counts(project_id)

    async def approve(
        self,
        scope: Scope,
        proposal_id: str,
        *,
        by: str,
        reason: str = "",
        revision: int | None = None,
    ) -> Proposal:
        """Remember what is proposed; one that is approved already is returned as it is.

        With `revision` only if nobody changed it since: else `ProposalChanged`. Raises
        `ProposalNotFound`, and `ProposalDecided` if it was rejected.
        """

        async def approve(proposal: Proposal) -> Proposal:
            return await self._reconciliation.approve(
                proposal,
                lambda outcomes: approved(
                    proposal, outcomes, by=by, now=self._clock.now(), reason=reason
                ),
                approval=_approval(proposal, by),
            )

        return await self._decide(scope, proposal_id, ProposalState.APPROVED, revision, approve)

    async def reject(
        self,
        scope: Scope,
        proposal_id: str,
        *,
        by: str,
        reason: str = "",
        revision: int | None = None,
    ) -> Proposal:
        """Keep a proposal as rejected; one that is rejected already is returned as it is.

        With `revision` only if nobody changed it since: else `ProposalChanged`. Raises
        `ProposalNotFound`, and `ProposalDecided` if it was approved.
        """

        async def reject(proposal: Proposal) -> Proposal:
            decided = rejected(proposal, by=by, now=self._clock.now(), reason=reason)
            await self._proposals.put(decided)
            return decided

        return await self._decide(scope, proposal_id, ProposalState.REJECTED, revision, reject)

    async def edit(
        self,
        scope: Scope,
        proposal_id: str,
        words: Mapping[str, str],
        *,
        by: str,
        revision: int | None = None,
    ) -> Proposal:
        """Change the words of a proposal that waits, by the names of their fields.

        With `revision` only if nobody changed it since: else `ProposalChanged`. Raises
        `InvalidRequest` or `TooLarge` naming the field, `ProposalNotFound`, and `ProposalDecided`.
        """

        async def edit(proposal: Proposal) -> Proposal:
            changed = edited(proposal, words, by=by, now=self._clock.now())
            if changed is not proposal:
                await self._proposals.put(changed)
            return changed

        return await self._decide(scope, proposal_id, ProposalState.PENDING, revision, edit)

    async def approve_all(
        self, scope: Scope, ids: Sequence[str], *, by: str, reason: str = ""
    ) -> Decided:
        """Approve each of these on its own; one that cannot be holds up none of the others."""
        return await _each(ids, lambda one: self.approve(scope, one, by=by, reason=reason))

    async def reject_all(
        self, scope: Scope, ids: Sequence[str], *, by: str, reason: str = ""
    ) -> Decided:
        """Reject each of these on its own; one that cannot be holds up none of the others."""
        return await _each(ids, lambda one: self.reject(scope, one, by=by, reason=reason))

    async def _decide(
        self,
        scope: Scope,
        proposal_id: str,
        wanted: ProposalState,
        revision: int | None,
        carry_out: Callable[[Proposal], Awaitable[Proposal]],
    ) -> Proposal:
        """Carry a decision out on a proposal that waits, anew if it was changed meanwhile."""
        attempt = 0
        while True:
            proposal = await self._proposals.get(scope, proposal_id)
            if proposal.state is not ProposalState.PENDING:
                if proposal.state is wanted:
                    return proposal
                raise already(proposal)
            if revision not in (None, proposal.revision):
                raise ProposalChanged(
                    f"proposal {proposal_id!r} is at revision {proposal.revision}, not "
                    f"{revision}, any more; look at it again"
                )
            try:
                return await carry_out(proposal)
            except ProposalChanged:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise


async def _each(ids: Sequence[str], decide: Callable[[str], Awaitable[Proposal]]) -> Decided:
    proposals: list[Proposal] = []
    failed: dict[str, Conflict | NotFound] = {}
    for one in dict.fromkeys(ids):
        try:
            proposals.append(await decide(one))
        except (Conflict, NotFound) as error:
            failed[one] = error
    return Decided(proposals=proposals, failed=failed)


def _approval(proposal: Proposal, by: str) -> str:
    if proposal.edited_by is None:
        return f"approved by {by}"
    return f"in the words of {proposal.edited_by}, approved by {by}"
