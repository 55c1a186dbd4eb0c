"""A candidate that waits until somebody decides whether it is remembered."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum

from memory_server.domain.candidate import Candidate
from memory_server.domain.changes import Outcome, Provenance
from memory_server.domain.claims import matter_of
from memory_server.domain.identity import identity_of
from memory_server.domain.limits import MAX_TEXT_BYTES
from memory_server.domain.memory import (
    Claim,
    Episode,
    EventTime,
    ExtractedBody,
    Fact,
    MemoryType,
    Procedure,
)
from memory_server.domain.reconciliation import Action, statement
from memory_server.domain.wording import content, is_negated, numbers
from memory_server.errors import InvalidRequest, ProposalDecided, TooLarge

EDITABLE: Mapping[MemoryType, Sequence[str]] = {
    MemoryType.SEMANTIC: ("text",),
    MemoryType.EPISODIC: ("title", "content"),
    MemoryType.TAXONOMIC: ("definition",),
    MemoryType.PROCEDURAL: ("content",),
}
"""The words of each type that whoever decides may change."""
MAX_LABEL = 60


class ProposalState(StrEnum):
    """Whether it was decided; what was decided is not decided again."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One candidate with where it comes from, and what was decided on it."""

    id: str
    project_id: str
    user_id: str | None
    agent_id: str | None
    session_id: str
    snapshot_id: str
    extractor: str
    """Name and version of what extracted it."""
    key: str
    """Unique per project: the same candidate of the same turns is proposed once."""
    candidate: Candidate
    """In the words that would be remembered."""
    said_at: datetime
    """When it was last said."""
    created_at: datetime
    state: ProposalState = ProposalState.PENDING
    revision: int = 1
    """Grows with each write; what decisions check."""
    original: Candidate | None = None
    """As it was extracted; None: its words were not changed."""
    edited_by: str | None = None
    edited_at: datetime | None = None
    decided_by: str | None = None
    decided_at: datetime | None = None
    reason: str = ""
    """Of whoever decided."""
    outcomes: Sequence[Outcome] = ()
    """What became of memory by its approval, its own outcome first."""

    @property
    def type(self) -> MemoryType:
        """The kind of memory that is proposed."""
        return self.candidate.type

    @property
    def action(self) -> Action | None:
        """What its approval did; None: it was not approved."""
        return self.outcomes[0].action if self.outcomes else None

    @property
    def provenance(self) -> Provenance:
        """Where the candidate comes from, as it is reconciled."""
        return Provenance(
            project_id=self.project_id,
            user_id=self.user_id,
            agent_id=self.agent_id,
            session_id=self.session_id,
            snapshot_id=self.snapshot_id,
            extractor=self.extractor,
            said={"": self.said_at, **dict.fromkeys(self.candidate.turn_ids, self.said_at)},
        )


def proposed(
    candidate: Candidate, provenance: Provenance, *, proposal_id: str, now: datetime
) -> Proposal:
    """Return a candidate as a proposal that waits."""
    return Proposal(
        id=proposal_id,
        project_id=provenance.project_id,
        user_id=provenance.user_id,
        agent_id=provenance.agent_id,
        session_id=provenance.session_id,
        snapshot_id=provenance.snapshot_id,
        extractor=provenance.extractor,
        key=_key(candidate, provenance),
        candidate=candidate,
        said_at=provenance.said_at(candidate),
        created_at=now,
    )


def approved(
    proposal: Proposal, outcomes: Sequence[Outcome], *, by: str, now: datetime, reason: str = ""
) -> Proposal:
    """Return a proposal that waited as one that was approved, with what came of it."""
    decided = _decided(proposal, ProposalState.APPROVED, by=by, now=now, reason=reason)
    return replace(decided, outcomes=tuple(outcomes))


def rejected(proposal: Proposal, *, by: str, now: datetime, reason: str = "") -> Proposal:
    """Return a proposal that waited as one that was rejected."""
    return _decided(proposal, ProposalState.REJECTED, by=by, now=now, reason=reason)


def edited(proposal: Proposal, words: Mapping[str, str], *, by: str, now: datetime) -> Proposal:
    """Return a proposal that waits in other words; the same one where nothing differs.

    What told the former words goes with them: the steps of a procedure, the summary of an episode,
    an event time whose words or numbers are gone. A claim is kept where the words still say it;
    where only one value can hold and the words still speak of its matter, it takes the new text as
    its value, as that of a memory that is changed by hand does; else it is dropped, and the label
    with it: "allergic to hazelnuts" must not take the place of an allergy to peanuts. Raises
    `InvalidRequest` or `TooLarge` naming the field, and `ProposalDecided`.
    """
    if proposal.state is not ProposalState.PENDING:
        raise already(proposal)
    candidate = proposal.candidate
    _check_words(candidate, words)
    body = replace(candidate.body, **words)  # type: ignore[arg-type]  # checked
    if body == candidate.body:
        return proposal
    size = len(body.index_text.encode())
    if size > MAX_TEXT_BYTES:
        raise TooLarge(f"{min(words)}: the text has {size} bytes; {MAX_TEXT_BYTES} are the most")
    claim = _claim(candidate.claim, candidate.body, body)
    if isinstance(body, Fact) and candidate.claim is not None and claim is None:
        body = replace(body, label=_label(body.text))  # the former one names the former matter
    return replace(
        proposal,
        candidate=replace(
            candidate,
            body=_without_former_words(body, candidate.body),
            claim=claim,
            event_time=_event_time(candidate.event_time, candidate.body, body),
        ),
        original=proposal.original or candidate,
        edited_by=by,
        edited_at=now,
        revision=proposal.revision + 1,
    )


def already(proposal: Proposal) -> ProposalDecided:
    """Return the error of whoever decides what was decided otherwise, with what to do instead."""
    did = f"proposal {proposal.id!r} was {proposal.state.value} by {proposal.decided_by}"
    instead = {
        ProposalState.APPROVED: "change or delete the memory instead",
        ProposalState.REJECTED: "save a memory by hand if it is to be remembered all the same",
    }
    return ProposalDecided(f"{did} and is not decided again; {instead[proposal.state]}")


def _decided(
    proposal: Proposal, state: ProposalState, *, by: str, now: datetime, reason: str
) -> Proposal:
    if proposal.state is not ProposalState.PENDING:
        raise already(proposal)
    return replace(
        proposal,
        state=state,
        decided_by=by,
        decided_at=now,
        reason=reason,
        revision=proposal.revision + 1,
    )


def _key(candidate: Candidate, provenance: Provenance) -> str:
    """Return what the same candidate of the same turns has in common, whatever brought it."""
    claim = candidate.claim
    said = statement(candidate.body) if claim is None else [matter_of(claim).value]
    named = [
        provenance.user_id,
        candidate.type.value,
        candidate.retracts,
        sorted(candidate.turn_ids) or provenance.snapshot_id,
        identity_of(candidate, snapshot_id=provenance.snapshot_id),
        [*said],
    ]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _check_words(candidate: Candidate, words: Mapping[str, str]) -> None:
    if candidate.retracts:
        raise InvalidRequest(
            "this proposal takes back what is known and has no words of its own to change: "
            "approve or reject it"
        )
    names = EDITABLE[candidate.type]
    kind = f"a {candidate.type.value} proposal"
    if not words:
        raise InvalidRequest(f"{' or '.join(names)}: give the new words of {kind}")
    for name, text in words.items():
        if name not in names:
            raise InvalidRequest(f"{name}: of {kind} only {' and '.join(names)} can be changed")
        if not text.strip():
            raise InvalidRequest(f"{name}: {kind} needs text that is not blank")


def _without_former_words(body: ExtractedBody, former: ExtractedBody) -> ExtractedBody:
    if isinstance(body, Procedure):
        return replace(body, steps=())
    if isinstance(body, Episode) and body.content != former.chunk_text:
        return replace(body, summary_text="")
    return body


def _claim(claim: Claim | None, former: ExtractedBody, body: ExtractedBody) -> Claim | None:
    if claim is None or not isinstance(body, Fact) or not isinstance(former, Fact):
        return claim
    if _says_as_much(former.text, body.text):
        return claim
    if not claim.exclusive or not _speaks_of(claim, former.text) <= content(body.text):
        return None
    return replace(claim, value=body.text)


def _speaks_of(claim: Claim, text: str) -> frozenset[str]:
    """Return the words of a text that name the matter of its claim, without those of its value."""
    told = content(text) - content(claim.value) - content(matter_of(claim).value)
    return frozenset(word for word in told if not numbers(word))


def _label(text: str) -> str:
    """Return a snake_case name for a fact of these words."""
    return "_".join(re.findall(r"\w+", text.casefold()))[:MAX_LABEL].rstrip("_")


def _says_as_much(one: str, other: str) -> bool:
    """Whether two texts differ in spelling and in words that only join others."""
    return (content(one), numbers(one), is_negated(one)) == (
        content(other),
        numbers(other),
        is_negated(other),
    )


def _event_time(
    event: EventTime | None, former: ExtractedBody, body: ExtractedBody
) -> EventTime | None:
    if event is None:
        return None
    one, other = _told(former), _told(body)
    words = event.words.casefold()
    is_told = (words in one.casefold()) == (words in other.casefold())
    return event if is_told and numbers(one) == numbers(other) else None


def _told(body: ExtractedBody) -> str:
    values = (getattr(body, one.name) for one in fields(body) if one.name in EDITABLE[body.type])
    return "\n".join(map(str, values))
