"""What an expression of time means: a match, the day of speaking, and the span it names."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from memory_server.domain.calendar import (
    DAY,
    MONTH,
    MONTHS,
    UNITS,
    WEEK,
    WEEKDAYS,
    WEEKENDS,
    YEAR,
    Span,
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

COUNTS = numbered(
    "a|an|one|un|una|uno|ein|eine|einem|einer|um|uma|another "
    "two|couple|dos|par|paar|zwei|dois|duas three|tres|drei|três four|cuatro|vier|quatro "
    "five|cinco|fünf six|seis|sechs seven|siete|sieben|sete eight|ocho|acht|oito "
    "nine|nueve|neun|nove ten|diez|zehn|dez eleven|once|elf|onze twelve|doce|zwölf|doze "
    "thirteen|trece fourteen|catorce fifteen|quince sixteen seventeen eighteen nineteen "
    "twenty|veinte",
    1,
)
NAMED_DAYS = {
    "the day before yesterday": -2, "day before yesterday": -2, "the night before last": -2,
    "anteayer": -2, "antes de ayer": -2, "antier": -2, "anteanoche": -2, "antenoche": -2,
    "vorgestern": -2, "anteontem": -2,
    "yesterday": -1, "last night": -1, "ayer": -1, "anoche": -1, "gestern": -1, "ontem": -1,
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0,
    "hoy": 0, "esta mañana": 0, "esta tarde": 0, "esta noche": 0, "heute": 0, "hoje": 0,
    "tomorrow": 1, "mañana": 1, "morgen": 1, "amanhã": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "pasado mañana": 2, "übermorgen": 2,
    "depois de amanhã": 2,
}  # fmt: skip
SIDES = {
    "last": -1, "past": -1, "this past": -1, "pasado": -1, "pasada": -1, "pasados": -1,
    "letzte": -1, "vergangene": -1, "passado": -1, "passada": -1,
    "this": 0, "este": 0, "esta": 0, "diese": 0, "neste": 0, "nesta": 0,
    "next": 1, "coming": 1, "this coming": 1, "próximo": 1, "próxima": 1, "que viene": 1,
    "entrante": 1, "nächste": 1, "kommende": 1, "que vem": 1,
}  # fmt: skip
"""German ones without their last letters, which the noun decides."""
_YEAR_SIDES = {
    "last": -1, "pasado": -1, "passado": -1, "letzten": -1,
    "next": 1, "próximo": 1, "viene": 1, "nächsten": 1, "vem": 1,
}  # fmt: skip
_DAYS_OF_WEEK = 7
_LONGEST_AROUND = 31
"""Days of a span that `the day after` can start from; after a year it would be made up."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A match, the day of speaking, and the direction the sentence looks in."""

    match: re.Match[str]
    day: date
    direction: int
    """1: future, -1: past, 0: it does not tell."""
    anchor: Span | None = None
    """The time that was named before it."""

    def has(self, name: str) -> bool:
        """Whether a group took part in the match."""
        return bool(self.match.groupdict().get(name))

    def text(self, name: str) -> str:
        """Return a group's text in lower case, with single spaces."""
        return " ".join(self.match[name].casefold().split())

    def count(self) -> int:
        """Return the number that the group `count` tells."""
        word = self.text("count")
        return int(word) if word.isdecimal() else COUNTS[word]


Handler = Callable[[Reading], Span | None]


def untold(reading: Reading) -> Span | None:
    """Read words that tell no certain time, so that no part of them is taken for one."""
    del reading
    return None


def named_day(reading: Reading) -> Span | None:
    """Read `yesterday`."""
    return unit_from(reading.day, DAY, NAMED_DAYS[reading.text("named")])


def sided(reading: Reading) -> Span | None:
    """Read `last`, `this` or `next` with a unit, a weekend, a weekday or a month's name."""
    return _beside(reading, side_of(reading.text("side" if reading.has("side") else "side_next")))


def twice_sided(reading: Reading) -> Span | None:
    """Read `the week before last` and `the weekend after next`."""
    sign = 1 if reading.has("after") else -1
    noun = reading.text("noun")
    if noun in WEEKENDS:
        return weekend_from(reading.day, 2 * sign)
    if noun in WEEKDAYS:
        return _weeks_on(weekday_from(reading.day, WEEKDAYS[noun], sign), sign)
    return unit_from(reading.day, UNITS[noun], 2 * sign)


def side_of(word: str) -> int:
    """Return -1, 0 or 1 for `last`, `this` or `next` in any of the languages."""
    return SIDES[word] if word in SIDES else SIDES[word[:-1]]


def _beside(reading: Reading, side: int) -> Span | None:
    noun, day = reading.text("noun"), reading.day
    if noun in WEEKENDS:
        return weekend_from(day, side)
    if noun in WEEKDAYS:
        return weekday_from(day, WEEKDAYS[noun], side)
    if noun in MONTHS:
        return month_from(day, MONTHS[noun], side)
    return unit_from(day, UNITS[noun], side)


def weekend(reading: Reading) -> Span | None:
    """Read `over the weekend`: the last one that began, or the first that has not ended."""
    if reading.direction == 0:
        return None
    is_on = reading.day.weekday() >= WEEKDAYS["saturday"]
    return weekend_from(reading.day, 0 if reading.direction > 0 or is_on else -1)


def counted(reading: Reading) -> Span | None:
    """Read `two weeks ago` and `in three days`: as wide as the unit."""
    if reading.has("lasting") and reading.direction < 0 and not reading.has("time"):
        return None  # "I wrote it in three days"
    sign = -1 if reading.has("ago") else 1
    return unit_from(reading.day, UNITS[reading.text("unit")], sign * reading.count())


def counted_if_future(reading: Reading) -> Span | None:
    """Read `en tres días`, which is a length where nothing looks ahead."""
    return counted(reading) if reading.direction > 0 else None


def fortnight(reading: Reading) -> Span | None:
    """Read `a fortnight ago`."""
    return unit_from(reading.day, WEEK, -2 if reading.has("ago") else 2)


def weekdays_ago(reading: Reading) -> Span | None:
    """Read `two Fridays ago`."""
    last = weekday_from(reading.day, WEEKDAYS[reading.text("weekday")], -1)
    return _weeks_on(last, 1 - reading.count())


def in_year(reading: Reading) -> Span | None:
    """Read `in 2022`."""
    return year_of(int(reading.text("year")))


def in_decade(reading: Reading) -> Span | None:
    """Read `in the 1990s`."""
    first = int(reading.text("decade")) // 10 * 10
    return date(first, 1, 1), date(first + 10, 1, 1)


def in_month(reading: Reading) -> Span | None:
    """Read `in May 2022`, `in May of last year` and `in May`."""
    month = MONTHS[reading.text("month")]
    if reading.has("year"):
        return month_of(int(reading.text("year")), month)
    if reading.has("year_side"):
        return month_of(reading.day.year + year_side(reading), month)
    if reading.direction == 0:
        return None
    year = reading.day.year
    if reading.direction > 0:
        return month_of(year + (month < reading.day.month), month)
    return month_of(year - (month > reading.day.month), month)


def year_side(reading: Reading) -> int:
    """Return -1, 0 or 1 for `last year`, `this year` or `next year`."""
    words = reading.text("year_side")
    return next((side for mark, side in _YEAR_SIDES.items() if mark in words), 0)


def on_weekday(reading: Reading) -> Span | None:
    """Read `on Friday`."""
    if reading.direction == 0:
        return None
    return weekday_from(reading.day, WEEKDAYS[reading.text("weekday")], reading.direction)


def on_date(reading: Reading) -> Span | None:
    """Read `on 3 June 2023`, `on June 3 of last year` and `on 3 June`."""
    day = _written(reading)
    return None if day is None else days(day)


def on_number(reading: Reading) -> Span | None:
    """Read `on the 15th`: the nearest one in the direction of the sentence."""
    if reading.direction == 0:
        return None
    number, day = int(reading.text("number")), reading.day
    is_near = number >= day.day if reading.direction > 0 else number <= day.day
    first, _ = month_of(day.year, day.month + (0 if is_near else reading.direction))
    return days(date(first.year, first.month, number))


def around_date(reading: Reading) -> Span | None:
    """Read `the week before 8 May 2023`, `the Friday before ...`, `the day after ...`."""
    day = _written(reading)
    if day is None:
        return None
    return _around(reading.text("around"), days(day), 1 if reading.has("after") else -1)


def around_anchor(reading: Reading) -> Span | None:
    """Read `the week before` and `the next day`, which start from a time named before."""
    anchor = reading.anchor
    if anchor is None:
        return None
    return _around(reading.text("around"), anchor, 1 if reading.has("after") else -1)


def counted_from_date(reading: Reading) -> Span | None:
    """Read `two days before 8 May 2023`."""
    day = _written(reading)
    return None if day is None else _counted_from(reading, days(day))


def counted_from_anchor(reading: Reading) -> Span | None:
    """Read `three days later` and `two weeks earlier`."""
    return None if reading.anchor is None else _counted_from(reading, reading.anchor)


def _counted_from(reading: Reading, span: Span) -> Span | None:
    first, after = span
    unit = UNITS[reading.text("unit")]
    if unit == DAY and after - first > timedelta(days=1):
        return None
    sign = 1 if reading.has("after") else -1
    return unit_from(first, unit, sign * reading.count())


def end_of_unit(reading: Reading) -> Span | None:
    """Read `by the end of the month`: its last day; of a week the week, whose end is unsure."""
    side = side_of(reading.text("side")) if reading.has("side") else 0
    unit = UNITS[reading.text("unit")]
    span = unit_from(reading.day, unit, side)
    if unit == WEEK or not reading.has("by"):
        return span
    return days(span[1] - timedelta(days=1))


def _written(reading: Reading) -> date | None:
    day = written_date(reading.match, near=reading.day, direction=reading.direction or 1)
    groups = reading.match.groupdict()
    if day is None or groups.get("iso") or groups.get("year"):
        return day
    if reading.has("year_side"):
        return date(reading.day.year + year_side(reading), day.month, day.day)
    return day if reading.direction else None


def _around(noun: str, span: Span, sign: int) -> Span | None:
    """Return the day, week or other unit, weekday or weekend before or after a span."""
    first, after = span
    unit = UNITS.get(noun, DAY)
    if (after - first).days > _LONGEST_AROUND and unit != YEAR:
        return None
    edge = first if sign < 0 else after - timedelta(days=1)
    if noun in WEEKDAYS:
        return weekday_from(edge, WEEKDAYS[noun], sign)
    if noun in WEEKENDS:
        saturday = weekday_from(edge, WEEKDAYS["saturday"], sign)[0]
        is_its_sunday = sign < 0 and edge.weekday() == WEEKDAYS["sunday"]
        return days(saturday - timedelta(weeks=is_its_sunday), 2)
    if unit in (MONTH, YEAR):
        return unit_from(edge, unit, sign)
    length = _DAYS_OF_WEEK if unit == WEEK else 1
    return days(first - timedelta(days=length) if sign < 0 else after, length)


def _weeks_on(span: Span, weeks: int) -> Span:
    return span[0] + timedelta(weeks=weeks), span[1] + timedelta(weeks=weeks)
