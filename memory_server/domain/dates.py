"""When things were said, and when the things said took place.

Weeks begin on Monday and weekends on Saturday. A span is as wide as the words: `yesterday` is
a day, `two weeks ago` a week, `in 2022` a year, and so is `in the summer of 2022`, for whose
summer it was nobody knows. `last Friday` is the latest one before the day of speaking and
`next Friday` the first one after it. A day or month without a year is looked for in the past
or in the future as the sentence's tense tells, and not at all when it tells nothing. `The week
before` and `three days later` start from a time that was named before them; where there is
none, or where the words only tell about how much (`more than two years ago`, `within the last
month`), they stay words.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time

from memory_server.domain import date_rules, date_rules_zh
from memory_server.domain.calendar import Span
from memory_server.domain.date_handlers import Handler, Reading
from memory_server.domain.memory import EventTime
from memory_server.domain.source_times import source_time

__all__ = ["resolve", "resolve_each", "source_time"]

_TENSES = (
    (
        1,
        r"\b(?:will|won't|going to|gonna|plan(?:s|ning)?|hop(?:e|es|ing)|want(?:s|ing)?|next"
        r"|upcoming|soon|can't wait|looking forward|excited for|due|deadline|until|by"
        r"|será|serán|habrá|estará|tendrá|iré|irá"
        r"|voy a|vamos a|va a|van a|quiero|planeo|próxim[oa]|tengo que|hay que|que viene"
        r"|vou|vamos|vai|werde|wirst|wird|werden|will)\b|'ll\b",
    ),
    (
        -1,
        r"\b(?:was|were|had|did|been|went|got|took|bought|made|met|saw|ran|won|lost|began|became"
        r"|gave|found|left|moved|wrote|built|spent|drove|flew|ate|drank|slept|came|taught|told|sent"
        r"|sold|spoke|swam|grew|knew|paid|rode|sang|broke|chose|fell|learnt|ago|fui|fue|fuimos|estuve|hice|vi|\w{3,}(?:é|ó|aron|ieron)|born"
        r"|nací|foi|fiz|comprei|mudei|comecei|corri|nasci|habe|hatte|war|wurde|ging|bin \w+en"
        r"|(?!need\b|feed\b|bed\b|red\b|speed\b|indeed\b|hundred\b|naked\b)\w{2,}ed)\b",
    ),
)
_TENSES_BY_SIGN = tuple((sign, re.compile(words, re.IGNORECASE)) for sign, words in _TENSES)


def resolve(
    sentence: str, said_at: datetime | None, *, told_in: str | None = None, after: str = ""
) -> EventTime | None:
    """Return when what a sentence tells took place, in the offset of `said_at`.

    `told_in` is the text whose tense counts, where `sentence` is only its expression of time;
    `after` is what the same speaker said before it, from which `the week before` may start.

    The first expression of time that can be resolved counts. None when there is none, or when
    nobody knows when it was said: nothing is invented.
    """
    if said_at is None:
        return None
    named_before = [span for _, span in _spans(after, said_at)]
    anchor = named_before[-1] if named_before else None
    found = next(_spans(sentence, said_at, told_in=told_in, anchor=anchor), None)
    return _event_time(found[1], found[0], said_at) if found else None


def resolve_each(text: str, said_at: datetime | None) -> Iterator[EventTime]:
    """Yield every time that a text tells, in its order; none when nobody knows when it was said."""
    if said_at is not None:
        for words, span in _spans(text, said_at):
            yield _event_time(span, words, said_at)


def _spans(
    sentence: str, said_at: datetime, *, told_in: str | None = None, anchor: Span | None = None
) -> Iterator[tuple[str, Span]]:
    """Yield the expressions that can be resolved; each is where the next may start from."""
    expressions = _expressions(sentence.replace("\u2019", "'"))
    direction = _direction(told_in or sentence) if expressions else 0
    read_until, read = 0, (0, 0)
    for match, handler in expressions:
        if match.start() < read_until and match.span() != read:
            continue
        span = _span(handler, Reading(match, said_at.date(), direction, anchor))
        read_until, read = match.end(), match.span() if span is None else (0, 0)
        if span is not None:
            anchor = span
            yield sentence[match.start() : match.end()].strip(), span


def _span(handler: Handler, reading: Reading) -> Span | None:
    try:
        return handler(reading)
    except (ValueError, OverflowError, KeyError):  # a day that no calendar has, or a name
        return None


def _event_time(span: Span, words: str, said_at: datetime) -> EventTime:
    start, end = (datetime.combine(day, time(), said_at.tzinfo or UTC) for day in span)
    return EventTime(start=start, end=end, words=words)


def _direction(sentence: str) -> int:
    found = {sign for sign, words in _TENSES_BY_SIGN if words.search(sentence)}
    return found.pop() if len(found) == 1 else 0


def _expressions(sentence: str) -> list[tuple[re.Match[str], Handler]]:
    """Return the matches in order of their place; at one place the longest comes first."""
    found = [
        (match, handler)
        for language in (date_rules, date_rules_zh)
        if language.may_tell_a_time(sentence)
        for expression, handler in language.rules()
        for match in expression.finditer(sentence)
    ]
    return sorted(found, key=lambda item: (item[0].start(), -item[0].end()))
