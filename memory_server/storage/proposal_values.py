"""Parts of proposals as values of JSON: what every store keeps of them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from memory_server.domain.candidate import Candidate
from memory_server.domain.changes import Outcome
from memory_server.domain.memory import Claim, EventTime, ExtractedBody, MemoryType
from memory_server.domain.moments import moment_of_text, moment_text, within_reach
from memory_server.domain.proposal import Proposal, ProposalState
from memory_server.domain.reconciliation import Action
from memory_server.storage.memory_values import body_of, body_values

COLUMNS = (
    "id",
    "project_id",
    "user_id",
    "agent_id",
    "session_id",
    "snapshot_id",
    "extractor",
    "key",
    "revision",
    "edited_by",
    "decided_by",
    "reason",
)
"""Fields that are texts and numbers, or None."""


def proposal_values(proposal: Proposal) -> dict[str, Any]:
    """Return what a store keeps of a proposal, but for the moment at which it was made."""
    return {
        **{name: getattr(proposal, name) for name in COLUMNS},
        "type": proposal.type.value,
        "state": proposal.state.value,
        "action": proposal.action and proposal.action.value,
        "candidate": _candidate_values(proposal.candidate),
        "original": proposal.original and _candidate_values(proposal.original),
        "said_at": moment_text(proposal.said_at),
        "edited_at": moment_text(proposal.edited_at),
        "decided_at": moment_text(proposal.decided_at),
        "outcomes": [outcome.as_document() for outcome in proposal.outcomes],
    }


def proposal_of(values: Mapping[str, Any], *, created_at: datetime) -> Proposal:
    """Return the proposal that `proposal_values` took apart, read back from JSON."""
    original = values["original"]
    return Proposal(
        **{name: values[name] for name in COLUMNS},
        candidate=_candidate_of(values["candidate"]),
        original=None if original is None else _candidate_of(original),
        state=ProposalState(values["state"]),
        created_at=created_at,
        said_at=within_reach(datetime.fromisoformat(values["said_at"])),
        edited_at=moment_of_text(values["edited_at"]),
        decided_at=moment_of_text(values["decided_at"]),
        outcomes=tuple(map(_outcome_of, values["outcomes"])),
    )


def _candidate_values(candidate: Candidate) -> Mapping[str, Any]:
    event = candidate.event_time
    return {
        "type": candidate.type.value,
        "body": body_values(candidate.body),
        "turn_ids": [*candidate.turn_ids],
        "claim": _claim_values(candidate.claim),
        "corrects": _claim_values(candidate.corrects),
        "confidence": candidate.confidence,
        "retracts": candidate.retracts,
        "speakers": [*candidate.speakers],
        "event_time": event
        and {
            "start": moment_text(event.start),
            "end": moment_text(event.end),
            "words": event.words,
        },
    }


def _candidate_of(values: Mapping[str, Any]) -> Candidate:
    event = values["event_time"]
    return Candidate(
        body=cast(ExtractedBody, body_of(MemoryType(values["type"]), values["body"])),
        turn_ids=tuple(values["turn_ids"]),
        claim=_claim_of(values["claim"]),
        corrects=_claim_of(values["corrects"]),
        confidence=float(values["confidence"]),
        retracts=values["retracts"],
        speakers=tuple(values.get("speakers", ())),
        event_time=event
        and EventTime(
            start=within_reach(datetime.fromisoformat(event["start"])),
            end=within_reach(datetime.fromisoformat(event["end"])),
            words=event["words"],
        ),
    )


def _claim_values(claim: Claim | None) -> Mapping[str, Any] | None:
    if claim is None:
        return None
    return {
        "subject": claim.subject,
        "attribute": claim.attribute,
        "value": claim.value,
        "exclusive": claim.exclusive,
    }


def _claim_of(values: Mapping[str, Any] | None) -> Claim | None:
    return None if values is None else Claim(**values)


def _outcome_of(values: Mapping[str, Any]) -> Outcome:
    return Outcome(
        **{**values, "action": Action(values["action"]), "type": MemoryType(values["type"])}
    )
