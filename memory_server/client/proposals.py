"""What waits to be remembered in one project, and deciding on it."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast
from urllib.parse import quote

from memory_server.client.shapes import EventTimeDocument, EvidenceTurn
from memory_server.client.transport import Transport, having


class ProposalTurn(EvidenceTurn):
    """A turn that a proposal rests on: who said it, and when."""

    speaker: str
    said_at: str


class OutcomeDocument(TypedDict):
    """What became, or would become, of memory."""

    action: str
    """ADD, UPDATE, REINFORCE, RETRACT, or SKIP."""
    type: str
    text: str
    reason: str
    memory_id: str | None
    previous: str | None
    """The text that an UPDATE replaces."""


class EditedDocument(TypedDict):
    """Who changed the words of a proposal, and what they were."""

    by: str
    at: str
    original: Mapping[str, str]


class DecisionOnProposal(TypedDict):
    """What was decided, by whom, and what came of it."""

    by: str
    at: str
    reason: str
    outcomes: Sequence[OutcomeDocument]


class ProposalDocument(TypedDict):
    """What was extracted from a conversation, and waits, or was decided on."""

    id: str
    state: str
    """`pending`, `approved` or `rejected`."""
    revision: int
    type: str
    content: str
    words: Mapping[str, str]
    """What of it can be changed, by field."""
    name: str
    retracts: bool
    claim: Mapping[str, Any] | None
    event_time: EventTimeDocument | None
    confidence: float
    user_id: str | None
    agent_id: str | None
    session_id: str
    snapshot_id: str
    extractor: str
    said_at: str
    created_at: str
    edited: EditedDocument | None
    decision: DecisionOnProposal | None
    turns: NotRequired[Sequence[ProposalTurn]]
    """Of one that is read; turns deleted meanwhile are missing."""
    foreseen: NotRequired[Sequence[OutcomeDocument]]
    """What approving it would do; of one that is read alone and waits."""
    warnings: NotRequired[Sequence[str]]
    """What is not kept of a request to decide, because the same was decided before."""


class ProposalPage(TypedDict):
    """Proposals, the one that waits longest first."""

    proposals: Sequence[ProposalDocument]
    next: str | None
    """What to give as `after` for more; None: these were all."""


class FailedDecision(TypedDict):
    """A proposal that could not be decided, and why."""

    id: str
    code: str
    error: str


class DecidedProposals(TypedDict):
    """What became of each of several proposals."""

    proposals: Sequence[ProposalDocument]
    failed: Sequence[FailedDecision]


class ProposalsClient:
    """Reads proposals and decides on them. Raises as the client it belongs to.

    Deciding again what is decided the same way changes nothing, as `warnings` tell of a reason.
    """

    def __init__(self, wire: Transport, project: str) -> None:
        self._wire = wire
        self._path = f"{project}/memory/proposals"

    async def list(
        self,
        *,
        state: str | None = None,
        user_id: str | None = None,
        type: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> ProposalPage:
        """Return proposals with the turns they rest on; `next` says where to go on."""
        query = _given(state=state, user_id=user_id, type=type, after=after, limit=limit)
        answer = await self._wire.call("GET", self._path, params=query)
        return cast(ProposalPage, having(answer, "proposals"))

    async def get(self, proposal_id: str) -> ProposalDocument:
        """Return one proposal, with what approving it would do now."""
        return cast(ProposalDocument, await self._wire.call("GET", self._one(proposal_id)))

    async def edit(
        self, proposal_id: str, words: Mapping[str, str], *, revision: int | None = None
    ) -> ProposalDocument:
        """Change the words of a proposal that waits, by field; with `revision` only that state."""
        body = {**words, **_given(revision=revision)}
        answer = await self._wire.call("PATCH", self._one(proposal_id), json=body)
        return cast(ProposalDocument, having(answer, "id", "words"))

    async def approve(
        self, proposal_id: str, *, reason: str | None = None, revision: int | None = None
    ) -> ProposalDocument:
        """Remember what is proposed; with `revision` only if it is in that state."""
        return await self._decide("approve", proposal_id, reason, revision)

    async def reject(
        self, proposal_id: str, *, reason: str | None = None, revision: int | None = None
    ) -> ProposalDocument:
        """Reject what is proposed; with `revision` only if it is in that state."""
        return await self._decide("reject", proposal_id, reason, revision)

    async def approve_all(
        self, ids: Sequence[str], *, reason: str | None = None
    ) -> DecidedProposals:
        """Approve several, each on its own; up to 100."""
        return await self._decide_all("approve", ids, reason)

    async def reject_all(
        self, ids: Sequence[str], *, reason: str | None = None
    ) -> DecidedProposals:
        """Reject several, each on its own; up to 100."""
        return await self._decide_all("reject", ids, reason)

    async def _decide(
        self, verb: str, proposal_id: str, reason: str | None, revision: int | None
    ) -> ProposalDocument:
        body = _given(reason=reason, revision=revision)
        answer = await self._wire.call("POST", f"{self._one(proposal_id)}/{verb}", json=body)
        return cast(ProposalDocument, having(answer, "id", "decision"))

    async def _decide_all(
        self, verb: str, ids: Sequence[str], reason: str | None
    ) -> DecidedProposals:
        body = {"ids": [*ids], **_given(reason=reason)}
        answer = await self._wire.call("POST", f"{self._path}/{verb}", json=body)
        return cast(DecidedProposals, having(answer, "proposals", "failed"))

    def _one(self, proposal_id: str) -> str:
        return f"{self._path}/{quote(proposal_id, safe='')}"


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
