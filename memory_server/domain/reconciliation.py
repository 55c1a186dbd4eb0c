"""What becomes of a candidate when it meets what is known: a pure decision.

The rules, in their order:

1. What takes something back ends the memory it names, if that was not said again later. One
   that names a kind ("my allergies") ends all of the kind if it says so, else the only one.
2. What the user deleted or took back after the candidate was said does not come back.
3. The memory that has the candidate's identity, then one that says the same, then one that can
   hold only in its place: the same statement reinforces it, a newer one updates it, an older one
   completes its history.
4. A text that is near in meaning reinforces a fact if neither claims nor wording tell them apart.
5. Everything else is added.
6. What tells that a plan came true ends the plan.

What a person saved for the whole project is changed by hand only, and so are terms and
procedures that rest on no conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from memory_server.domain import claims
from memory_server.domain.candidate import Candidate
from memory_server.domain.claims import Matter, matter_of
from memory_server.domain.memory import (
    Block,
    Body,
    Claim,
    Episode,
    Fact,
    Memory,
    Procedure,
    Record,
    Term,
)
from memory_server.domain.plans import is_plan, tells_it_happened
from memory_server.domain.scope import Visibility
from memory_server.domain.wording import content, may_say_the_same, normalised


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
class Known:
    """What a candidate meets."""

    neighbours: Sequence[Neighbour]
    """Live memories, the nearest first."""
    ended: Sequence[Memory] = ()
    """Memories of the candidate's identity that were taken back or deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with a candidate, and why in words."""

    action: Action
    reason: str
    target: Memory | None = None
    """The memory that is updated, reinforced, retracted, or whose history is completed."""
    is_past: bool = False
    """Whether the candidate was said before what is known, and only completes the history."""
    bars: bool = False
    """Whether what it takes back, though not known yet, must not hold if it was said before."""
    also: Sequence["Decision"] = ()
    """What else it means for other memories: more that it takes back, a plan that it ends."""


def decide(
    candidate: Candidate,
    known: Known,
    *,
    identity: str,
    said_at: datetime,
    same_from: float,
) -> Decision:
    """Decide for one candidate.

    `said_at` is when it was said; `same_from` the cosine from which two texts of this embedding
    space typically say the same.
    """
    live = [neighbour.memory for neighbour in known.neighbours]
    if candidate.retracts:
        return _retraction(candidate, live, known.ended, said_at)
    ended = _ended_later(known.ended, said_at)
    if ended is not None:
        return ended
    counterpart = _counterpart(candidate, live, identity)
    if counterpart is not None:
        decision = _meeting(candidate, counterpart, said_at)
    else:
        decision = _by_likeness(candidate, known.neighbours, same_from)
    return replace(decision, also=_plans_that_came_true(candidate, live, said_at))


def last_said(memory: Memory) -> datetime:
    """Return when the memory was last said, or made so by hand."""
    said = [evidence.event_time for evidence in memory.evidence if evidence.event_time]
    return max((*said, memory.valid_from))


def takes_back(candidate: Candidate, known: Claim | None, body: Body) -> bool:
    """Whether a retraction means what is known: the same matter, and the value if it names one."""
    claim = candidate.claim
    if not candidate.retracts:
        return False
    if claim is None or known is None:
        return content(candidate.body.chunk_text) == content(body.chunk_text)
    taken, held = matter_of(claim), matter_of(known)
    if taken.covers(held) and (_means_all(candidate) or not taken.value):
        return True
    if not taken.is_same_topic(held):
        return False
    if _means_all(candidate) or taken.value in ("", claims.YES, claims.NO):
        return True
    named, values = content(taken.value), content(held.value)
    return named <= values or values <= named


def _retraction(
    candidate: Candidate, live: Sequence[Memory], ended: Sequence[Memory], said_at: datetime
) -> Decision:
    meant = [memory for memory in live if takes_back(candidate, memory.claim, memory.body)]
    if not meant:
        return Decision(
            action=Action.SKIP,
            reason="nothing known that it takes back",
            bars=_names_one_matter(candidate) and _ended_later(ended, said_at) is None,
        )
    if _names_a_kind(candidate) and len(meant) > 1 and not _means_all(candidate):
        return Decision(
            action=Action.SKIP,
            reason=f"takes one back of {len(meant)} that are known, and does not say which",
        )
    still = [memory for memory in meant if said_at >= last_said(memory)]
    if not still:
        return Decision(action=Action.SKIP, reason="what it takes back was said again later")
    first, *others = (
        Decision(action=Action.RETRACT, target=memory, reason="the user took it back")
        for memory in (still if _names_a_kind(candidate) else still[:1])
    )
    return replace(first, also=others)


def _names_a_kind(candidate: Candidate) -> bool:
    return candidate.claim is not None and matter_of(candidate.claim).is_kind


def _names_one_matter(candidate: Candidate) -> bool:
    """Whether it ends one thing that is or is not so, whatever was said of it."""
    claim = candidate.claim
    return claim is not None and claim.exclusive and not _names_a_kind(candidate)


def _means_all(candidate: Candidate) -> bool:
    return candidate.claim is not None and candidate.claim.value == claims.ALL


def _plans_that_came_true(
    candidate: Candidate, live: Sequence[Memory], said_at: datetime
) -> Sequence[Decision]:
    if is_plan(candidate.claim):
        return ()
    return [
        Decision(action=Action.RETRACT, target=memory, reason="the plan came true")
        for memory in live
        if said_at > last_said(memory) and not _is_by_hand(memory)
        if tells_it_happened(candidate, memory)
    ]


def _ended_later(ended: Sequence[Memory], said_at: datetime) -> Decision | None:
    """Return what to do with a statement that was ended after it was said, None if none was."""
    for memory in ended:
        if memory.deleted and said_at <= memory.updated_at:
            return Decision(action=Action.SKIP, reason="deleted by hand after it was said")
        if memory.valid_to is not None and said_at < memory.valid_to:
            return Decision(action=Action.SKIP, reason="taken back after it was said")
    return None


def _counterpart(candidate: Candidate, live: Sequence[Memory], identity: str) -> Memory | None:
    """Return the memory that the candidate is about, if one is known."""
    tests = (
        lambda memory: _is_corrected(candidate, memory),
        lambda memory: memory.identity_key == identity,
        lambda memory: says_the_same(candidate, memory),
        lambda memory: _same_slot(candidate, memory),
    )
    for test in tests:
        for memory in live:
            if test(memory):
                return memory
    return None


def _is_corrected(candidate: Candidate, memory: Memory) -> bool:
    if candidate.corrects is None or memory.claim is None:
        return False
    return matter_of(candidate.corrects) == matter_of(memory.claim)


def _meeting(candidate: Candidate, known: Memory, said_at: datetime) -> Decision:
    if says_the_same(candidate, known):
        return Decision(action=Action.REINFORCE, target=known, reason="says the same")
    if _is_by_hand(known):
        return Decision(
            action=Action.SKIP, reason="what is known was saved by hand and is changed by hand"
        )
    if said_at < last_said(known):
        return Decision(
            action=Action.ADD,
            target=known,
            is_past=True,
            reason="said before what is known, kept as history",
        )
    return Decision(action=Action.UPDATE, target=known, reason="newer word on the same matter")


def _is_by_hand(memory: Memory) -> bool:
    if memory.visibility is not Visibility.PRIVATE:
        return True
    return not memory.evidence and not isinstance(memory.body, Fact)


def _by_likeness(
    candidate: Candidate, neighbours: Sequence[Neighbour], same_from: float
) -> Decision:
    """Take a near text for the same one only if neither claims nor wording tell them apart."""
    if isinstance(candidate.body, Fact):
        for neighbour in neighbours:
            known = neighbour.memory
            if (
                neighbour.similarity >= same_from
                and _compatible(candidate.claim, known.claim)
                and may_say_the_same(candidate.body.text, known.body.chunk_text)
            ):
                likeness = f"says the same in other words (cosine {neighbour.similarity:.2f})"
                return Decision(action=Action.REINFORCE, target=known, reason=likeness)
    return Decision(action=Action.ADD, reason="nothing like it is known")


def says_the_same(candidate: Candidate, known: Memory) -> bool:
    """Whether a candidate states what a memory does: its claim, or its words."""
    if candidate.claim and known.claim:
        return matter_of(candidate.claim) == matter_of(known.claim)
    return statement(candidate.body) == statement(known.body)


def statement(body: Body) -> tuple[str, ...]:
    """Return what a body says, the same for the same words."""
    match body:
        case Fact():
            return (normalised(body.text),)
        case Episode():
            return (str(body.snapshot_ref_id), normalised(body.title), normalised(body.content))
        case Term():
            return (normalised(body.domain), normalised(body.term), normalised(body.definition))
        case Procedure():
            return (normalised(body.procedure), normalised(body.content))
        case Record():
            return (body.custom_type, normalised(body.content))
        case Block():
            return (body.exchange_id, body.viewpoint)


def _same_slot(candidate: Candidate, known: Memory) -> bool:
    """Whether only one of the two can hold at a time.

    Both must say so: a model that calls one "likes" exclusive must not retire the others.
    """
    body = candidate.body
    match body, known.body:
        case (Term(), Term()) | (Procedure(), Procedure()):
            return normalised(body.key) == normalised(known.body.key)
        case (Fact(), Fact()):
            one, other = candidate.claim, known.claim
            return (
                one is not None
                and other is not None
                and one.exclusive
                and other.exclusive
                and _is_one_slot(matter_of(one), matter_of(other))
            )
    return False


def _is_one_slot(one: Matter, other: Matter) -> bool:
    """Whether two matters are the same, or what is so in both differs in how many alone.

    Somebody who swims 60 lengths a visit no longer swims 40; one who owns a Pixel 8 may own a 7.
    """
    if one.is_same_topic(other):
        return True
    if (one.subject, one.value, other.value) != (other.subject, claims.YES, claims.YES):
        return False
    return _without_counts(one) == _without_counts(other) != other.attribute


def _without_counts(matter: Matter) -> tuple[str, ...]:
    """Return an attribute without the numbers that something is counted by in it."""
    *words, last = matter.attribute
    return (*("#" if word.isdigit() else word for word in words), last)


def _compatible(one: Claim | None, other: Claim | None) -> bool:
    """Whether two claims may be one; a claim about another matter or value never is."""
    if one is None or other is None:
        return True
    said, known = matter_of(one), matter_of(other)
    if said.value in (claims.YES, claims.NO):
        return said == known
    return (said.subject, said.value) == (known.subject, known.value)
