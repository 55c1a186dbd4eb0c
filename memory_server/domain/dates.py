"""When things were said, and when the things said took place. English and Spanish.

Weeks begin on Monday and weekends on Saturday. A span is as wide as the words: `yesterday` is
a day, `two weeks ago` a week, `in 2022` a year. `last Friday` is the latest one before the day
of speaking and `next Friday` the first one after it. A day or month without a year is looked
for in the past or in the future as the sentence's tense tells, and not at all when it tells
nothing.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from memory_server.domain.calendar import (
    DAY,
    MONTH_NAME,
    MONTHS,
    UNITS,
    WEEK,
    WEEKDAYS,
    WEEKENDS,
    WRITTEN_DATES,
    YEAR_NUMBER,
    Span,
    any_of,
    days,
    month_from,
    month_of,
    numbered,
    unit_from,
    weekday_from,
    weekend_from,
    written_date,
    year_of,
)
from memory_server.domain.memory import EventTime
from memory_server.domain.source_times import source_time

__all__ = ["resolve", "source_time"]

_COUNTS = numbered(
    "a|an|one|un|una|uno two|couple|dos|par three|tres four|cuatro five|cinco six|seis "
    "seven|siete eight|ocho nine|nueve ten|diez eleven|once twelve|doce",
    1,
)
_WEEKDAY_NAME = any_of(WEEKDAYS, at_least=5)
_UNIT_NAME = any_of(UNITS)
_COUNT = rf"(?:a |un )?(?P<count>\d{{1,3}}|{any_of(_COUNTS)})(?: of| de)?"
_TENSES = (
    (
        1,
        r"\b(?:will|going to|gonna|plan(?:s|ning)?|hop(?:e|es|ing)|want(?:s|ing)?|next"
        r"|upcoming|soon|can't wait|looking forward|excited for|due|deadline|until|by"
        r"|voy a|vamos a|va a|quiero|planeo|próxim[oa]|tengo que)\b|'ll\b",
    ),
    (
        -1,
        r"\b(?:was|were|had|did|been|went|got|took|bought|made|met|saw|ran|won|lost|began|became"
        r"|gave|found|left|moved|ago|fui|fue|estuve|hice|vi|\w{3,}(?:é|ó|aron|ieron)|born|nací"
        r"|(?!need\b|feed\b|bed\b|red\b|speed\b|indeed\b|hundred\b|naked\b)\w{2,}ed)\b",
    ),
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A match, the day of speaking, and the direction the sentence looks in."""

    match: re.Match[str]
    day: date
    direction: int
    """1: future, -1: past, 0: it does not tell."""

    def has(self, name: str) -> bool:
        return bool(self.match.groupdict().get(name))

    def text(self, name: str) -> str:
        return self.match[name].casefold()


_Handler = Callable[[_Reading], Span | None]


def resolve(
    sentence: str, said_at: datetime | None, *, told_in: str | None = None
) -> EventTime | None:
    """Return when what a sentence tells took place, in the offset of `said_at`.

    `told_in` is the text whose tense counts, where `sentence` is only its expression of time.

    The first expression of time that can be resolved counts. None when there is none, or when
    nobody knows when it was said: nothing is invented.
    """
    if said_at is None:
        return None
    direction = _direction(told_in or sentence)
    unresolved_until = 0
    for match, handler in _expressions(sentence):
        if match.start() < unresolved_until:
            continue
        span = _span(handler, _Reading(match, said_at.date(), direction))
        if span is not None:
            return _event_time(span, match.group().strip(), said_at)
        unresolved_until = match.end()
    return None


def _span(handler: _Handler, reading: _Reading) -> Span | None:
    try:
        return handler(reading)
    except (ValueError, OverflowError):  # a day that no calendar has
        return None


def _event_time(span: Span, words: str, said_at: datetime) -> EventTime:
    start, end = (datetime.combine(day, time(), said_at.tzinfo or UTC) for day in span)
    return EventTime(start=start, end=end, words=words)


def _direction(sentence: str) -> int:
    found = {sign for sign, words in _TENSES if re.search(words, sentence, re.IGNORECASE)}
    return found.pop() if len(found) == 1 else 0


def _expressions(sentence: str) -> list[tuple[re.Match[str], _Handler]]:
    """Return the matches in order of their place; at one place the longest comes first."""
    found = [
        (match, handler)
        for expression, handler in _RULES
        for match in expression.finditer(sentence)
    ]
    return sorted(found, key=lambda item: (item[0].start(), -item[0].end()))


_NAMED_DAYS = {
    "the day before yesterday": -2, "day before yesterday": -2, "anteayer": -2, "antes de ayer": -2,
    "yesterday": -1, "last night": -1, "ayer": -1, "anoche": -1,
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0,
    "hoy": 0, "esta mañana": 0, "esta tarde": 0, "esta noche": 0,
    "tomorrow": 1, "mañana": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "pasado mañana": 2,
}  # fmt: skip


def _named_day(reading: _Reading) -> Span | None:
    return unit_from(reading.day, DAY, _NAMED_DAYS[reading.text("named")])


_SIDES = {
    "last": -1, "past": -1, "previous": -1, "pasado": -1, "pasada": -1,
    "this": 0, "este": 0, "esta": 0,
    "next": 1, "coming": 1, "following": 1, "próximo": 1, "próxima": 1, "que viene": 1,
}  # fmt: skip


def _sided(reading: _Reading) -> Span | None:
    """Read `last`, `this` or `next` with a unit, a weekend, a weekday or a month's name."""
    side, noun, day = _SIDES[reading.text("side")], reading.text("noun"), reading.day
    if noun in WEEKENDS:
        return weekend_from(day, side)
    if noun in WEEKDAYS:
        return weekday_from(day, WEEKDAYS[noun], side)
    if noun in MONTHS:
        return month_from(day, MONTHS[noun], side)
    return unit_from(day, UNITS[noun], side)


def _counted(reading: _Reading) -> Span | None:
    """Read `two weeks ago` and `in three days`: as wide as the unit."""
    word = reading.text("count")
    count = int(word) if word.isdigit() else _COUNTS[word]
    sign = -1 if reading.has("ago") else 1
    return unit_from(reading.day, UNITS[reading.text("unit")], sign * count)


def _in_year(reading: _Reading) -> Span | None:
    return year_of(int(reading.text("year")))


def _in_month(reading: _Reading) -> Span | None:
    month = MONTHS[reading.text("month")]
    if reading.has("year"):
        return month_of(int(reading.text("year")), month)
    if reading.direction == 0:
        return None
    year = reading.day.year
    if reading.direction > 0:
        return month_of(year + (month < reading.day.month), month)
    return month_of(year - (month > reading.day.month), month)


def _on_weekday(reading: _Reading) -> Span | None:
    if reading.direction == 0:
        return None
    return weekday_from(reading.day, WEEKDAYS[reading.text("weekday")], reading.direction)


def _on_date(reading: _Reading) -> Span | None:
    day = written_date(reading.match, near=reading.day, direction=reading.direction)
    return None if day is None else days(day)


def _around_date(reading: _Reading) -> Span | None:
    """Read `the week before 8 May 2023`, `the Friday before ...`, `the day after ...`."""
    day = written_date(reading.match, near=reading.day, direction=reading.direction)
    if day is None:
        return None
    noun, sign = reading.text("around"), 1 if reading.has("after") else -1
    if noun in WEEKDAYS:
        return weekday_from(day, WEEKDAYS[noun], sign)
    if noun in WEEKENDS:
        saturday = weekday_from(day, 5, sign)[0]
        return days(saturday - timedelta(weeks=sign < 0 and day.weekday() == 6), 2)
    length = 7 if UNITS[noun] == WEEK else 1
    first = day - timedelta(days=length) if sign < 0 else day + timedelta(days=1)
    return days(first, length)


_AROUND = (
    rf"(?:the |el |la )?(?P<around>weekend|fin de semana|week|semana|day|día|{_WEEKDAY_NAME}) "
    r"(?:before|prior to|(?P<after>after|following|después de)|antes de)l? ?(?:el )?"
)
_ON = r"(?:(?:on|by|el) )?"
_IN = r"(?:back )?(?:in|during|since|en|desde|by) (?:early |late |mid-?)?"
_SHORT_NAMES = f"{any_of(WEEKDAYS, at_least=3)}|{any_of(MONTHS, at_least=3)}"
_NOUN = rf"(?P<noun>weekend|fin de semana|{_UNIT_NAME}|{_SHORT_NAMES})"


def _rule(expression: str, handler: _Handler) -> tuple[re.Pattern[str], _Handler]:
    return re.compile(rf"(?<![\w-]){expression}(?![\w-])", re.IGNORECASE), handler


_RULES: tuple[tuple[re.Pattern[str], _Handler], ...] = (
    *(_rule(_AROUND + form, _around_date) for form in WRITTEN_DATES),
    *(_rule(_ON + form, _on_date) for form in WRITTEN_DATES),
    _rule(
        r"(?<!la )(?<!cada )(?<!esta )(?<!de )(?P<named>"
        + "|".join(sorted(_NAMED_DAYS, key=len, reverse=True))
        + ")",
        _named_day,
    ),
    _rule(
        r"(?:the |el |la )?(?P<side>last|past|previous|this|next|coming|following|este|esta"
        rf"|próximo|próxima) {_NOUN}",
        _sided,
    ),
    _rule(rf"(?:el |la ){_NOUN} (?P<side>pasado|pasada|que viene)", _sided),
    _rule(rf"(?:(?:about|around) )?{_COUNT} (?P<unit>{_UNIT_NAME}) (?P<ago>ago|atrás)", _counted),
    _rule(rf"(?P<ago>hace) (?:unos |unas )?{_COUNT} (?P<unit>{_UNIT_NAME})", _counted),
    _rule(rf"(?:in|dentro de) {_COUNT} (?P<unit>{_UNIT_NAME})(?:'s? time)?", _counted),
    _rule(rf"{_COUNT} (?P<unit>{_UNIT_NAME}) from now", _counted),
    _rule(
        rf"{_IN}(?P<month>{MONTH_NAME})"
        rf"(?:,? (?:of |de |del )?(?P<year>{YEAR_NUMBER}))?",
        _in_month,
    ),
    _rule(rf"(?P<month>{MONTH_NAME}),? (?:of |de |del )?(?P<year>{YEAR_NUMBER})", _in_month),
    _rule(
        rf"{_IN}(?P<year>{YEAR_NUMBER})",
        _in_year,
    ),
    _rule(rf"(?:on|el) (?P<weekday>{_WEEKDAY_NAME})", _on_weekday),
)
