"""What is known that a remark on a change can only be about.

"With the tablets the cuff shows 143 over 76" names no attribute. It takes the place of the fact
that it is nearest to of all that are known, if that fact has one value of the same kind and no
other such fact is about as near. Everything else is left as it is: a remark alone is never
remembered.
"""

from collections.abc import Sequence
from dataclasses import replace

from memory_server.domain.candidate import Candidate
from memory_server.domain.claims import NO, YES, matter_of
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.domain.memory import Claim, Fact, Memory
from memory_server.domain.reconciliation import Action, Decision, Neighbour
from memory_server.domain.statements import Statement, Value, statements, values_in
from memory_server.domain.wording import content

NEAR = 0.4
"""From which nearness, 0 for what is unrelated and 1 for the same, a remark is about a fact."""
NEAR_UNSAID = 0.5
"""The same where it is not said that something changed."""
CLOSER = 0.1
"""How much less will do where they have a word in common, or values of a kind that few have."""
MARGIN = 0.05
"""By how much another fact with a value of the kind has to be farther."""

ABOUT_NOTHING_KNOWN = Decision(
    action=Action.SKIP, reason="tells of a change, and not plainly of anything that is known"
)


def what_it_changes(
    remark: Candidate, neighbours: Sequence[Neighbour], space: EmbeddingSpace
) -> Candidate | None:
    """Return the remark as a correction of the fact that it is about, None if it is about none.

    `neighbours` are what is known, the nearest first.
    """
    facts = [one for one in neighbours if _is_of_the_user(one.memory)]
    said = statements(remark.body.chunk_text)
    if not facts or len(said) != 1:
        return None
    nearest, *others = facts
    found = _replaced(said[0], nearest.memory)
    if found is None:
        return None
    value, known = found
    if not _is_near(said[0], value, nearest, space) or not may_be_meant(said[0], value):
        return None
    rivals = [one for one in others if _has_kind(one.memory, value.kind)]
    if any(_nearness(nearest, space) - _nearness(one, space) < MARGIN for one in rivals):
        return None
    return _as_correction(remark, nearest.memory, value, known)


def _is_of_the_user(memory: Memory) -> bool:
    return memory.claim is not None and memory.claim.subject == "user"


def _replaced(remark: Statement, memory: Memory) -> tuple[Value, Value] | None:
    """Return the value of a remark and the one of a fact whose place it takes."""
    told = values_in(_stated(memory.claim))
    about = content(memory.body.index_text)
    for value in reversed(remark.values):
        of_the_kind = [known for known in told if known.kind == value.kind]
        if len(of_the_kind) != 1 or not value.may_replace(of_the_kind[0]):
            continue
        if value.thing is None or value.thing in about:
            return value, of_the_kind[0]
    return None


def _has_kind(memory: Memory, kind: str) -> bool:
    return any(value.kind == kind for value in values_in(_stated(memory.claim)))


def _stated(claim: Claim | None) -> str:
    """Return the words of a claim that say how it is: of what is so or not, those that name it."""
    if claim is None:
        return ""
    return claim.value if matter_of(claim).value not in (YES, NO) else claim.attribute


def may_be_meant(remark: Statement, value: Value) -> bool:
    """Whether a value is said as what holds from now on.

    What is measured or counted may be told anew without a word of change.
    """
    is_told_anew = value.is_measured or value.thing is not None
    return remark.is_change or (remark.lasts and is_told_anew)


def _is_near(remark: Statement, value: Value, known: Neighbour, space: EmbeddingSpace) -> bool:
    has_a_word = bool(remark.words & content(known.memory.body.index_text))
    needed = NEAR if remark.is_change else NEAR_UNSAID
    return _nearness(known, space) >= needed - CLOSER * (has_a_word or value.is_rare)


def _nearness(known: Neighbour, space: EmbeddingSpace) -> float:
    return (known.similarity - space.unrelated) / (space.same - space.unrelated)


def _as_correction(remark: Candidate, memory: Memory, value: Value, known: Value) -> Candidate:
    claim, body, fact = memory.claim, remark.body, memory.body
    assert claim is not None, "what has a value has a claim"
    assert isinstance(body, Fact), "remarks are facts"
    assert isinstance(fact, Fact), "remarks meet facts"
    stated = _stated(claim)
    now = stated.replace(known.said, value.said)
    is_named = stated == claim.attribute
    return replace(
        remark,
        body=replace(body, label=fact.label),
        claim=replace(claim, attribute=now) if is_named else replace(claim, value=now),
        corrects=claim,
        is_remark=False,
    )
