"""Proposals on the wire: what waits to be remembered, and what is decided on it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from memory_server.api.schemas.admin import EvidenceTurn
from memory_server.api.schemas.common import Answer, Body, Id, Whole
from memory_server.domain.candidate import Candidate
from memory_server.domain.changes import Outcome
from memory_server.domain.limits import MAX_DECIDED, MAX_DESCRIPTION, MAX_ID
from memory_server.domain.memory import Claim
from memory_server.domain.proposal import EDITABLE, Proposal
from memory_server.domain.reading import event_time_document
from memory_server.domain.turn import Turn
from memory_server.services.proposals import Decided, Reviewed

Reason = Annotated[str, Field(max_length=MAX_DESCRIPTION)]
Revision = Annotated[Whole, Field(ge=1)]
_TENANCY = ("org_id", "project_id")
"""What clients send along with every body."""


class Ruling(Body):
    """Why, and which state of the proposal it is about; both may be left out."""

    reason: Reason = ""
    user_id: Id | None = None
    """The owner, if only theirs may be decided on."""
    revision: Revision | None = None
    """As it was read: if somebody changed the proposal since, nothing is decided."""


class Rulings(Body):
    """Which proposals, and why."""

    ids: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID)], ...],
        Field(min_length=1, max_length=MAX_DECIDED),
    ]
    reason: Reason = ""
    user_id: Id | None = None
    """The owner, if only theirs may be decided on."""


class Edit(Body):
    """New words, by the fields of the type; a field that no type has is refused by its name.

    Of a fact `text`, of an episode `title` and `content`, of a term `definition`, of a procedure
    `content`.
    """

    model_config = ConfigDict(extra="allow")

    text: str | None = None
    title: str | None = None
    content: str | None = None
    definition: str | None = None
    user_id: Id | None = None
    """The owner, if only theirs may be changed."""
    revision: Revision | None = None
    """As it was read: if somebody changed the proposal since, nothing is changed."""

    def words(self) -> Mapping[str, str]:
        """Return the new words by the names of their fields."""
        names = sorted({name for fields in EDITABLE.values() for name in fields})
        words = {name: text for name in names if (text := getattr(self, name)) is not None}
        unknown = {name: str(value) for name, value in (self.model_extra or {}).items()}
        return words | {name: text for name, text in unknown.items() if name not in _TENANCY}


class ProposalTurn(EvidenceTurn):
    """A turn that a proposal rests on: who said it, and when."""

    speaker: str
    said_at: str

    @classmethod
    def of(cls, turn: Turn) -> "ProposalTurn":
        """Return a turn as it travels."""
        return cls(
            id=turn.id,
            turn_seq=turn.turn_seq,
            role=turn.role.value,
            content=turn.content,
            speaker=turn.speaker,
            said_at=(turn.event_time or turn.created_at).isoformat(),
        )


class OutcomeDocument(Answer):
    """What became, or would become, of memory."""

    action: str
    """ADD, UPDATE, REINFORCE, RETRACT, or SKIP."""
    type: str
    text: str
    reason: str
    memory_id: str | None
    """Of a foreseen ADD: none yet."""
    previous: str | None
    """The text that an UPDATE replaces."""

    @classmethod
    def of(cls, outcome: Outcome) -> "OutcomeDocument":
        """Return an outcome as it travels."""
        return cls.model_validate(outcome.as_document())

    @classmethod
    def foreseen(cls, outcome: Outcome) -> "OutcomeDocument":
        """Return an outcome that is only foreseen: what it would add has no id yet."""
        is_new = outcome.action.value == "ADD"
        return cls.model_validate(outcome.as_document() | ({"memory_id": None} if is_new else {}))


class EditedDocument(Answer):
    """Who changed the words of a proposal, and what they were."""

    by: str
    at: str
    original: dict[str, str]
    """The words as they were extracted, by field."""


class DecisionOnProposal(Answer):
    """What was decided, by whom, and what came of it."""

    by: str
    at: str
    reason: str
    outcomes: list[OutcomeDocument]
    """Empty where it was rejected."""


class ProposalDocument(Answer):
    """What was extracted from a conversation, and waits, or was decided on."""

    id: str
    state: str
    """`pending`, `approved` or `rejected`."""
    revision: int
    type: str
    content: str
    """What would be remembered, as a reader is shown it."""
    words: dict[str, str]
    """What of it can be changed, by field."""
    name: str
    """The name it would be saved by."""
    retracts: bool
    """Whether it takes back what is known, and adds nothing."""
    claim: dict[str, Any] | None
    event_time: dict[str, str] | None
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


class RuledDocument(ProposalDocument):
    """A proposal that is decided, as the request that asked for it finds it."""

    warnings: list[str]
    """What of the request is not kept, because the same was decided before."""


class ReviewedDocument(ProposalDocument):
    """A proposal with the words it rests on. Turns deleted meanwhile are missing."""

    turns: list[ProposalTurn]


class ForeseenDocument(ReviewedDocument):
    """A proposal with what approving it would do now."""

    foreseen: list[OutcomeDocument]
    """Empty where it is decided."""


class ProposalPage(Answer):
    """Proposals, the one that waits longest first."""

    proposals: list[ReviewedDocument]
    next: str | None
    """What to give as `after` for more; null: these were all."""


class FailedDecision(Answer):
    """A proposal that could not be decided, and why."""

    id: str
    code: str
    error: str


class DecidedProposals(Answer):
    """What became of each proposal."""

    proposals: list[RuledDocument]
    failed: list[FailedDecision]

    @classmethod
    def of(cls, decided: Decided, *, reason: str) -> "DecidedProposals":
        """Return what became of several proposals as it travels."""
        return cls(
            proposals=[ruled(one, reason=reason) for one in decided.proposals],
            failed=[
                FailedDecision(id=one, code=error.code, error=str(error))
                for one, error in decided.failed.items()
            ],
        )


def members(proposal: Proposal) -> dict[str, Any]:
    """Return the members of a proposal's document."""
    candidate, event = proposal.candidate, proposal.candidate.event_time
    return {
        "id": proposal.id,
        "state": proposal.state.value,
        "revision": proposal.revision,
        "type": proposal.type.value,
        "content": candidate.body.chunk_text,
        "words": _words(candidate),
        "name": candidate.body.key,
        "retracts": candidate.retracts,
        "claim": _claim(candidate.claim),
        "event_time": event_time_document(event) if event else None,
        "confidence": candidate.confidence,
        "user_id": proposal.user_id,
        "agent_id": proposal.agent_id,
        "session_id": proposal.session_id,
        "snapshot_id": proposal.snapshot_id,
        "extractor": proposal.extractor,
        "said_at": proposal.said_at.isoformat(),
        "created_at": proposal.created_at.isoformat(),
        "edited": _edited(proposal),
        "decision": _decision(proposal),
    }


def ruled(proposal: Proposal, *, reason: str) -> RuledDocument:
    """Return a proposal that is decided, for a request that gave this reason."""
    warnings = [] if reason in ("", proposal.reason) else [_reason_dropped(proposal)]
    return RuledDocument(**members(proposal), warnings=warnings)


def _reason_dropped(proposal: Proposal) -> str:
    at = f" at {proposal.decided_at.isoformat()}" if proposal.decided_at else ""
    kept = f"the reason {proposal.reason!r}" if proposal.reason else "no reason"
    return (
        f"it was {proposal.state.value} before, by {proposal.decided_by}{at}, with {kept}: that "
        "stands, and the reason given now is not kept"
    )


def reviewed(one: Reviewed) -> ReviewedDocument:
    """Return a proposal with its turns."""
    return ReviewedDocument(**members(one.proposal), turns=_turns(one))


def foreseen(one: Reviewed) -> ForeseenDocument:
    """Return a proposal with its turns and what approving it would do."""
    return ForeseenDocument(
        **members(one.proposal),
        turns=_turns(one),
        foreseen=[OutcomeDocument.foreseen(outcome) for outcome in one.foreseen],
    )


def _turns(one: Reviewed) -> list[ProposalTurn]:
    return [ProposalTurn.of(turn) for turn in one.turns.values()]


def _words(candidate: Candidate) -> dict[str, str]:
    return {name: getattr(candidate.body, name) for name in EDITABLE[candidate.type]}


def _claim(claim: Claim | None) -> dict[str, Any] | None:
    if claim is None:
        return None
    return {"subject": claim.subject, "attribute": claim.attribute, "value": claim.value}


def _edited(proposal: Proposal) -> EditedDocument | None:
    if proposal.original is None or proposal.edited_at is None:
        return None
    return EditedDocument(
        by=proposal.edited_by or "",
        at=proposal.edited_at.isoformat(),
        original=_words(proposal.original),
    )


def _decision(proposal: Proposal) -> DecisionOnProposal | None:
    if proposal.decided_at is None:
        return None
    return DecisionOnProposal(
        by=proposal.decided_by or "",
        at=proposal.decided_at.isoformat(),
        reason=proposal.reason,
        outcomes=[OutcomeDocument.of(outcome) for outcome in proposal.outcomes],
    )
