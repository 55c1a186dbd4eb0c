"""What becomes of a candidate when it meets what is known: a pure decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory_server.domain.candidate import Candidate
from memory_server.domain.memory import Body, Claim, Episode, Fact, Memory, Procedure, Term
from memory_server.domain.wording import may_say_the_same, normalised


class Action(StrEnum):
    """The outcome for one candidate."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    REINFORCE = "REINFORCE"
    RETRACT = "RETRACT"
    SKIP = "SKIP"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory of the candidate's owner and type, and how near it is."""

    memory: Memory
    similarity: float
    """Cosine; 0 where either has no vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with a candidate, and why in words."""

    action: Action
    reason: str
    target: Memory | None = None
    """The memory that is updated, reinforced or retracted."""
    is_past: bool = False
    """Whether the candidate was said before what is known, and only completes the history."""


def identity_of(candidate: Candidate, *, snapshot_id: str) -> str:
    """Return what makes two live memories of one owner the same one.

    The store allows one live memory for each identity, so that equal candidates arriving at
    the same moment end in one memory.
    """
    body = candidate.body
    match body:
        case Term():
            return f"term:{normalised(body.domain)}|{normalised(body.term)}"
        case Procedure():
            return f"procedure:{normalised(body.procedure)}"
        case Episode():
            return f"episode:{snapshot_id}|{normalised(body.title)}"
        case Fact():
            return _identity_of_fact(body, candidate.claim)


def _identity_of_fact(fact: Fact, claim: Claim | None) -> str:
    if claim is None:
        return f"text:{normalised(fact.text)}"
    slot = f"claim:{normalised(claim.subject)}|{normalised(claim.attribute)}"
    return slot if claim.exclusive else f"{slot}|{normalised(claim.value)}"


def decide(
    candidate: Candidate,
    neighbours: Sequence[Neighbour],
    *,
    said_at: datetime,
    same_from: float,
) -> Decision:
    """Decide for one candidate.

    `said_at` is when it was said; `same_from` the cosine from which two texts of this
    embedding space typically say the same.
    """
    if candidate.retracts:
        return _retraction(candidate, neighbours)
    for neighbour in neighbours:
        known = neighbour.memory
        if _same_statement(candidate, known):
            return Decision(action=Action.REINFORCE, target=known, reason="says the same")
    rival = next((n.memory for n in neighbours if _same_slot(candidate, n.memory)), None)
    if rival is not None:
        return _rivalry(rival, said_at)
    return _by_likeness(candidate, neighbours, same_from)


def last_said(memory: Memory) -> datetime:
    """Return when the memory was last said, as far as its evidence tells."""
    said = [evidence.event_time for evidence in memory.evidence if evidence.event_time]
    return max(said, default=memory.valid_from)


def _retraction(candidate: Candidate, neighbours: Sequence[Neighbour]) -> Decision:
    for neighbour in neighbours:
        if _same_slot(candidate, neighbour.memory) or _same_statement(candidate, neighbour.memory):
            return Decision(
                action=Action.RETRACT, target=neighbour.memory, reason="the user took it back"
            )
    return Decision(action=Action.SKIP, reason="nothing known that it takes back")


def _rivalry(rival: Memory, said_at: datetime) -> Decision:
    if said_at < last_said(rival):
        return Decision(
            action=Action.ADD,
            target=rival,
            is_past=True,
            reason="said before what is known, kept as history",
        )
    return Decision(action=Action.UPDATE, target=rival, reason="newer word on the same matter")


def _by_likeness(
    candidate: Candidate, neighbours: Sequence[Neighbour], same_from: float
) -> Decision:
    """Take a near text for the same one only if neither claims nor wording tell them apart."""
    if not isinstance(candidate.body, Fact):
        return Decision(action=Action.ADD, reason="nothing like it is known")
    text = candidate.body.text
    for neighbour in neighbours:
        known = neighbour.memory
        if (
            neighbour.similarity >= same_from
            and _compatible(candidate.claim, known.claim)
            and may_say_the_same(text, known.body.chunk_text)
        ):
            return Decision(
                action=Action.REINFORCE,
                target=known,
                reason=f"says the same in other words (cosine {neighbour.similarity:.2f})",
            )
    return Decision(action=Action.ADD, reason="nothing like it is known")


def _same_statement(candidate: Candidate, known: Memory) -> bool:
    if candidate.claim and known.claim:
        return _same_topic(candidate.claim, known.claim) and (
            normalised(candidate.claim.value) == normalised(known.claim.value)
        )
    return _statement(candidate.body) == _statement(known.body)


def _statement(body: Body) -> tuple[str, ...]:
    match body:
        case Fact():
            return (normalised(body.text),)
        case Episode():
            return (str(body.snapshot_ref_id), normalised(body.title), normalised(body.content))
        case Term():
            return (normalised(body.domain), normalised(body.term), normalised(body.definition))
        case Procedure():
            return (normalised(body.procedure), normalised(body.content))


def _same_slot(candidate: Candidate, known: Memory) -> bool:
    """Whether only one of the two can hold at a time."""
    body = candidate.body
    match body, known.body:
        case (Term(), Term()) | (Procedure(), Procedure()):
            return normalised(body.key) == normalised(known.body.key)
        case (Fact(), Fact()):
            return (
                candidate.claim is not None
                and known.claim is not None
                and candidate.claim.exclusive
                and _same_topic(candidate.claim, known.claim)
            )
    return False


def _same_topic(one: Claim, other: Claim) -> bool:
    return (normalised(one.subject), normalised(one.attribute)) == (
        normalised(other.subject),
        normalised(other.attribute),
    )


def _compatible(one: Claim | None, other: Claim | None) -> bool:
    """Whether two claims may be one; a claim about another matter or value never is."""
    if one is None or other is None:
        return True
    return normalised(one.subject) == normalised(other.subject) and (
        normalised(one.value) == normalised(other.value)
    )
