"""Expressions of time in Chinese, which writes no spaces, and how each is read."""

import re
from collections.abc import Sequence
from datetime import date

from memory_server.domain.calendar import (
    DAY,
    MONTH,
    WEEK,
    YEAR,
    YEAR_NUMBER,
    Span,
    days,
    monday,
    month_of,
    unit_from,
    weekend_from,
    year_of,
)
from memory_server.domain.date_handlers import Handler, Reading

_DAYS = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨晚": -1,
    "今天": 0,
    "今晚": 0,
    "今早": 0,
    "明天": 1,
    "后天": 2,
}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_SIDES = {"上": -1, "这": 0, "本": 0, "下": 1}
_NUMBERS = {letter: number for number, letter in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_WEEKDAYS = {letter: number for number, letter in enumerate("一二三四五六日")} | {"天": 6}
_UNITS = {"天": DAY, "周": WEEK, "星期": WEEK, "礼拜": WEEK, "月": MONTH, "年": YEAR}
_COUNT = r"(?P<count>\d{1,3}|[一二两三四五六七八九十])个?(?P<unit>天|周|星期|礼拜|月|年)"
_WEEK_NAME = "(?:周|星期|礼拜)"


def _named_day(reading: Reading) -> Span | None:
    return unit_from(reading.day, DAY, _DAYS[reading.text("named")])


def _named_year(reading: Reading) -> Span | None:
    year = reading.day.year + _YEARS[reading.text("named")]
    return month_of(year, int(reading.text("month"))) if reading.has("month") else year_of(year)


def _sided(reading: Reading) -> Span | None:
    """Read `上周`, `下个月`, `上周五` and `这周末`."""
    side = _SIDES[reading.text("side")]
    if reading.has("month"):
        return unit_from(reading.day, MONTH, side)
    if reading.has("end"):
        return weekend_from(reading.day, side)
    first, after = unit_from(reading.day, WEEK, side)
    if reading.has("weekday"):
        return days(
            date.fromordinal(monday(first).toordinal() + _WEEKDAYS[reading.text("weekday")])
        )
    return first, after


def _counted(reading: Reading) -> Span | None:
    word = reading.text("count")
    count = int(word) if word.isdecimal() else _NUMBERS[word]
    sign = -1 if reading.has("ago") else 1
    return unit_from(reading.day, _UNITS[reading.text("unit")], sign * count)


def _dated(reading: Reading) -> Span | None:
    """Read `2023年5月8日`, `2023年5月` and `2023年`."""
    year = int(reading.text("year"))
    if not reading.has("month"):
        return year_of(year)
    month = int(reading.text("month"))
    if not reading.has("number"):
        return month_of(year, month)
    return days(date(year, month, int(reading.text("number"))))


def _rule(expression: str, handler: Handler) -> tuple[re.Pattern[str], Handler]:
    return re.compile(expression), handler


_RULES: tuple[tuple[re.Pattern[str], Handler], ...] = (
    _rule(
        rf"(?<!\d)(?P<year>{YEAR_NUMBER})年(?:(?P<month>\d{{1,2}})月(?:(?P<number>\d{{1,2}})[日号])?)?",
        _dated,
    ),
    _rule(f"(?P<named>{'|'.join(_DAYS)})", _named_day),
    _rule(rf"(?P<named>{'|'.join(_YEARS)})(?:的?(?P<month>\d{{1,2}})月)?", _named_year),
    _rule(r"(?P<side>[上下这本])个?(?P<month>月)", _sided),
    _rule(
        rf"(?P<side>[上下这本])个?{_WEEK_NAME}(?:(?P<end>末)|(?P<weekday>[一二三四五六日天]))?",
        _sided,
    ),
    _rule(rf"{_COUNT}(?:之|以)?(?P<ago>前)", _counted),
    _rule(rf"{_COUNT}(?:之|以)?后", _counted),
)
_HINTS = frozenset("年月天周期拜晚早")


def rules() -> Sequence[tuple[re.Pattern[str], Handler]]:
    """Return the rules."""
    return _RULES


def may_tell_a_time(text: str) -> bool:
    """Whether it is worth while to look for expressions of time."""
    return not _HINTS.isdisjoint(text)
