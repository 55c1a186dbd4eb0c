"""Review: what waits to be remembered is shown, approved, put in other words, or rejected."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from memory_server.api.dependencies import Reviewer, ServicesOfApp
from memory_server.api.schemas.common import QueryText, unset_if_blank
from memory_server.api.schemas.proposals import (
    DecidedProposals,
    Edit,
    ForeseenDocument,
    ProposalDocument,
    ProposalPage,
    RuledDocument,
    Ruling,
    Rulings,
    foreseen,
    members,
    reviewed,
    ruled,
)
from memory_server.domain.limits import MAX_PROPOSALS
from memory_server.domain.memory import BUILT_IN, MemoryType
from memory_server.domain.proposal import ProposalState
from memory_server.errors import InvalidRequest
from memory_server.ports.proposals import ProposalQuery

router = APIRouter(prefix="/proposals", tags=["review"])

QueryState = Annotated[ProposalState | None, unset_if_blank(default=None)]
QueryType = Annotated[MemoryType | None, unset_if_blank(default=None)]
DEFAULT_LIMIT = 50
Limit = Annotated[int, Field(ge=1, le=MAX_PROPOSALS), unset_if_blank(DEFAULT_LIMIT)]


@router.get("")
async def list_proposals(
    reviewer: Reviewer,
    services: ServicesOfApp,
    state: QueryState = None,
    user_id: QueryText = None,
    type: QueryType = None,
    after: QueryText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> ProposalPage:
    """List proposals with the words they rest on, the one that waits longest first.

    An owner sees everybody's, or those of `user_id`; a person their own. `next` of an answer is
    the `after` of the next request.
    """
    if type is not None and type not in BUILT_IN:
        raise InvalidRequest(f"type: {type.value} is not learned from conversations")
    scope = reviewer.reviewing(user_id=user_id)
    query = ProposalQuery(state=state, type=type, after=after, limit=limit + 1)
    found = await services.reviewing.find(scope, query)
    page = found[:limit]
    return ProposalPage(
        proposals=[reviewed(one) for one in page],
        next=page[-1].proposal.id if len(found) > limit else None,
    )


@router.post("/approve")
async def approve_proposals(
    body: Rulings, reviewer: Reviewer, services: ServicesOfApp
) -> DecidedProposals:
    """Approve several proposals, each on its own: what cannot be approved is told with the reason.

    What is approved already stays as it is.
    """
    scope, by = reviewer.reviewing(user_id=body.user_id), reviewer.principal.signature
    return DecidedProposals.of(
        await services.reviewing.approve_all(scope, body.ids, by=by, reason=body.reason),
        reason=body.reason,
    )


@router.post("/reject")
async def reject_proposals(
    body: Rulings, reviewer: Reviewer, services: ServicesOfApp
) -> DecidedProposals:
    """Reject several proposals, each on its own: what cannot be rejected is told with the reason.

    They are kept, with the reason, and are not proposed of the same turns again.
    """
    scope, by = reviewer.reviewing(user_id=body.user_id), reviewer.principal.signature
    return DecidedProposals.of(
        await services.reviewing.reject_all(scope, body.ids, by=by, reason=body.reason),
        reason=body.reason,
    )


@router.get("/{proposal_id}")
async def get_proposal(
    proposal_id: str, reviewer: Reviewer, services: ServicesOfApp, user_id: QueryText = None
) -> ForeseenDocument:
    """Show a proposal, the words it rests on, and what approving it would do now."""
    scope = reviewer.reviewing(user_id=user_id)
    return foreseen(await services.reviewing.get(scope, proposal_id))


@router.patch("/{proposal_id}")
async def edit_proposal(
    proposal_id: str, body: Edit, reviewer: Reviewer, services: ServicesOfApp
) -> ProposalDocument:
    """Change the words of a proposal that waits; the original ones are kept beside them.

    A claim that only one value can hold of takes the new text as its value; another claim that the
    words do not say any more is dropped.
    """
    scope, by = reviewer.reviewing(user_id=body.user_id), reviewer.principal.signature
    changed = await services.reviewing.edit(
        scope, proposal_id, body.words(), by=by, revision=body.revision
    )
    return ProposalDocument(**members(changed))


@router.post("/{proposal_id}/approve")
async def approve_proposal(
    proposal_id: str, reviewer: Reviewer, services: ServicesOfApp, body: Ruling | None = None
) -> RuledDocument:
    """Remember what is proposed, as it meets what is known now; approved again, nothing happens.

    Why is told by a `reason`, if there is one; approved again, the former one stands, as `warnings`
    tell. It counts as said when it was said: what was said later stands, and the proposal completes
    its history.
    """
    ruling = body or Ruling()
    scope, by = reviewer.reviewing(user_id=ruling.user_id), reviewer.principal.signature
    decided = await services.reviewing.approve(
        scope, proposal_id, by=by, reason=ruling.reason, revision=ruling.revision
    )
    return ruled(decided, reason=ruling.reason)


@router.post("/{proposal_id}/reject")
async def reject_proposal(
    proposal_id: str, reviewer: Reviewer, services: ServicesOfApp, body: Ruling | None = None
) -> RuledDocument:
    """Reject a proposal; it is kept, and not proposed of the same turns again.

    Why is told by a `reason`, if there is one; rejected again, the former one stands, as `warnings`
    tell.
    """
    ruling = body or Ruling()
    scope, by = reviewer.reviewing(user_id=ruling.user_id), reviewer.principal.signature
    decided = await services.reviewing.reject(
        scope, proposal_id, by=by, reason=ruling.reason, revision=ruling.revision
    )
    return ruled(decided, reason=ruling.reason)
