"""Which of two finds is the later word on what a question asks.

A search ranks what was said by how near it is to the question, and the former word is often the
nearer: "my savings target is $12,500", then "the sum I am putting by for is $22,500 instead". Two
finds answer the same where the user states values of one kind in them, and the later speaks of a
change, shares words with the former, or is about as near to the question. The places of the two are
then exchanged; nothing else moves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.ranking import Ranked
from memory_server.domain.statements import Statement, Value, statements
from memory_server.domain.wording import content

NEAR = 0.75
"""Share of the former's score from which a find is as near to the question."""
NEAR_MEASURED = 0.6
"""The same where both tell what is read from a scale, in one unit."""
RELATED = 0.3
"""Share of the former's score from which a find may be about the same at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a find says, and when it was said."""

    text: str
    said_at: datetime


def later_word_first(
    query: str, ranked: Sequence[Ranked], told: Mapping[str, Told]
) -> list[Ranked]:
    """Return the finds with each former word behind the latest word on the same.

    `told` has all of them. Scores stay what they were, place by place.
    """
    asked = content(query)
    order = list(ranked)
    for place in range(len(order)):
        later = [
            other
            for other in range(place + 1, len(order))
            if _takes_the_place(asked, order[other], order[place], told)
        ]
        if later:
            latest = max(later, key=lambda other: told[order[other].id].said_at)
            order[place], order[latest] = (
                Ranked(order[latest].id, order[place].score),
                Ranked(order[place].id, order[latest].score),
            )
    return order


def _takes_the_place(
    asked: frozenset[str], later: Ranked, former: Ranked, told: Mapping[str, Told]
) -> bool:
    one, other = told[later.id], told[former.id]
    if one.said_at <= other.said_at or later.score < RELATED * former.score:
        return False
    nearness = later.score / former.score if former.score else 1.0
    return any(
        _is_later_word(asked, statement, known, nearness)
        for known in _answering(asked, other.text)
        for statement in statements(one.text)
    )


def _answering(asked: frozenset[str], text: str) -> Sequence[Statement]:
    """Return the statements with most of the question's words."""
    own = [one for one in statements(text) if _is_asked_about(asked, one)]
    most = max((len(one.words & asked) for one in own), default=0)
    return [one for one in own if len(one.words & asked) == most]


def _is_asked_about(asked: frozenset[str], one: Statement) -> bool:
    return one.other is None or one.other in asked


def _is_later_word(
    asked: frozenset[str], later: Statement, former: Statement, nearness: float
) -> bool:
    if not _is_asked_about(asked, later):
        return False
    about = asked | former.words
    shared = later.words & about
    return any(
        _may_replace(value, known, about)
        and (later.is_change or bool(shared) or _is_near(value, nearness))
        for value in later.values
        for known in former.values
    )


def _may_replace(value: Value, known: Value, about: frozenset[str]) -> bool:
    """Whether one value can take the other's place; three cars are no other number of hens."""
    if not value.may_replace(known):
        return False
    return value.thing is None or value.thing in about or value.thing == known.thing


def _is_near(value: Value, nearness: float) -> bool:
    """Whether two finds are about as near to the question; names are too many to go by that."""
    return value.kind != "name" and nearness >= (NEAR_MEASURED if value.is_measured else NEAR)
