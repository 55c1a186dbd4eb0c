"""Histories: the sessions that hold what is asked for, among many that do not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from random import Random
from typing import Any, Final

from evaluation.datasets.generator.drafts import Draft
from evaluation.datasets.generator.filling import POOL, Filling, Fillings
from evaluation.datasets.generator.grammar import Grammar
from evaluation.datasets.generator.pen import Pen
from evaluation.datasets.generator.talk import write_session
from evaluation.datasets.generator.variants import Variant

EARLIER: Final = timedelta(days=20)
"""How long before its first evidence a history begins."""
LAST_HOUR: Final = time(22, tzinfo=UTC)
"""Until when, on the day of the question, sessions are held."""

_OVERHEAD: Final = 40
"""Characters of a message besides its content, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session of a history."""

    id: str
    at: datetime
    messages: Sequence[dict[str, Any]]
    is_evidence: bool = False

    def size(self) -> int:
        """Return its characters."""
        return sum(len(message["content"]) + _OVERHEAD for message in self.messages)


def write_history(
    draft: Draft, variant: Variant, fillings: Fillings, grammar: Grammar, chance: Random
) -> Sequence[Session]:
    """Return the sessions by date; in no order where evidence stands alone, as in the real file."""
    pen = Pen(grammar, chance)
    evidence = list(_evidence(draft, variant, pen))
    if not variant.sessions:
        chance.shuffle(evidence)
        return evidence
    starts = min(session.at for session in evidence) - EARLIER
    ends = datetime.combine(draft.asked_on, LAST_HOUR)
    minutes = int((ends - starts).total_seconds() // 60)
    others = [
        Session(
            id=name, at=starts + timedelta(minutes=chance.randrange(minutes)), messages=messages
        )
        for name, messages in _others(
            draft, variant, fillings, pen, variant.sessions - len(evidence)
        )
    ]
    if variant.characters:
        room = variant.characters - sum(session.size() for session in evidence)
        _drop(others, room, chance)
    return sorted([*evidence, *others], key=lambda session: session.at)


def _evidence(draft: Draft, variant: Variant, pen: Pen) -> Iterator[Session]:
    name = f"answer_{pen.chance.getrandbits(32):08x}"
    for number, (at, said) in enumerate(draft.evidence, start=1):
        messages, told_in = write_session(pen, variant.length, said)
        for index, message in enumerate(messages):
            message["has_answer"] = index == told_in
        yield Session(id=f"{name}_{number}", at=at, messages=messages, is_evidence=True)


def _others(
    draft: Draft, variant: Variant, fillings: Fillings, pen: Pen, count: int
) -> Iterator[tuple[str, Sequence[dict[str, Any]]]]:
    """Give sessions without evidence: those that are near to it first."""
    decoys = draft.decoys[: min(variant.decoys, count)]
    for said in decoys:
        messages, _ = write_session(pen, variant.length, said)
        yield f"{pen.chance.getrandbits(32):08x}_{pen.chance.randint(1, 4)}", messages
    told: set[str] = set()
    left = count - len(decoys)
    for filling in _drawn(fillings, pen.chance):
        if not left:
            return
        if filling.key not in draft.keys and filling.key not in told:
            told |= {filling.key} if filling.is_own else set()
            left -= 1
            yield filling.id, [dict(message) for message in filling.messages]


def _drawn(fillings: Fillings, chance: Random) -> Iterator[Filling]:
    """Give every filling in an order of its own."""
    for number in chance.sample(range(POOL), POOL):
        yield fillings[number]


def _drop(others: list[Session], room: int, chance: Random) -> None:
    """Take out sessions, whichever, until the others fit."""
    size = sum(session.size() for session in others)
    while others and size > room:
        size -= others.pop(chance.randrange(len(others))).size()
