"""Which past time a question asks about, so that what held then can be looked up."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.chunk import Chunk
from memory_server.domain.dates import resolve
from memory_server.domain.memory import EventTime

MOST_CHARACTERS = 4000
"""Of a message; what it asks stands there."""
_ASKS = re.compile(
    r"\?|^\W*(?:where|what|who|whom|whose|which|when|how|did|was|were|had|tell me|remind me"
    r"|d[oó]nde|qu[eé]|qui[eé]n(?:es)?|cu[aá]l(?:es)?|cu[aá]nd?t?o|c[oó]mo|dime|recu[eé]rdame)\b",
    re.IGNORECASE,
)
_IMPERFECT = re.compile(
    r"\b(?!d[ií]as?\b)\w+(?:aba|abas|aban|[aá]bamos|[ií]a|[ií]as|[ií]an|[ií]amos)\b|\beras?\b",
    re.IGNORECASE,
)
"""Spanish past tenses that lead no date by themselves: `vivía`, `trabajaba`, `era`."""
_BEFORE = re.compile(r"\b(?:before|until|prior to|antes del?|hasta)(?: el)?\s+$", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|after|desde|despu[eé]s)\b", re.IGNORECASE)
_NEAR = 20
"""Characters before a time in which stands what leads to it."""
_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastQuestion:
    """A question about how things were."""

    words: str
    """The past time, as the question names it."""
    until: datetime
    """The last moment of it: what held then answers."""
    rest: str
    """The question without the time."""
    chunks: Sequence[Chunk] = ()
    """What held then, the best first."""


def past_question(message: str, now: datetime) -> PastQuestion | None:
    """Return what a message asks about a time that is over; None where it asks about none.

    In English and Spanish, `in April 2026`, `last year`, `before May`, `hace dos años`. A time
    that a question starts from (`since May`) is none: what it asks about may still hold.
    """
    text = message[:MOST_CHARACTERS]
    if not _ASKS.search(text):
        return None
    named = _named(text, now)
    if named is None:
        return None
    place = text.replace("\u2019", "'").find(named.words)
    before = text[: max(place, 0)]
    if place < 0 or _SINCE.search(f"{before[-_NEAR:]}{named.words}"):
        return None
    words, until = named.words, named.end
    if leading := _BEFORE.search(before):
        words, until = f"{leading[0]}{words}", named.start
    if until > now:
        return None
    begin = leading.start() if leading else place
    rest = f"{text[:begin]} {text[place + len(named.words) :]}"
    return PastQuestion(words=words, until=until - _MOMENT, rest=" ".join(rest.split()))


def _named(text: str, now: datetime) -> EventTime | None:
    found = resolve(text, now)
    if found is None and _IMPERFECT.search(text):
        return resolve(text, now, told_in="was")
    return found
