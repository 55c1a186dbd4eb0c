"""Names of days, months and units, and the spans they cover.

English and Spanish, and what German and Portuguese call them otherwise.
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta

Span = tuple[date, date]
"""First day, and the day after the last."""


_IN_WORDS = (
    "January February March April May June July August September October November December".split()
)


def in_words(day: date) -> str:
    """Return a day as it is shown and searched: "8 May 2023", whatever the locale."""
    return f"{day.day} {_IN_WORDS[day.month - 1]} {day.year}"


def numbered(names: str, first: int) -> dict[str, int]:
    """Give names numbers from `first` on; those joined by a bar share a number."""
    return {
        name: number
        for number, group in enumerate(names.split(), first)
        for name in group.split("|")
    }


def any_of(names: Mapping[str, int], *, at_least: int = 1) -> str:
    """Return an expression for any of the names with so many letters, the longest first."""
    listed = sorted((name for name in names if len(name) >= at_least), key=len, reverse=True)
    return "(?:" + "|".join(listed) + ")"


MONTHS = numbered(
    "january|jan|enero|januar|janeiro february|feb|febrero|februar|fevereiro "
    "march|mar|marzo|märz|março april|apr|abril may|mayo|mai|maio june|jun|junio|juni|junho "
    "july|jul|julio|juli|julho august|aug|agosto september|sept|sep|septiembre|setiembre|setembro "
    "october|oct|octubre|oktober|outubro november|nov|noviembre|novembro "
    "december|dec|diciembre|dezember|dezembro",
    1,
)
WEEKDAYS = numbered(
    "monday|mon|lunes|montag|segunda-feira tuesday|tues|tue|martes|dienstag|terça-feira "
    "wednesday|wed|miércoles|miercoles|mittwoch|quarta-feira "
    "thursday|thurs|thu|jueves|donnerstag|quinta-feira friday|fri|viernes|freitag|sexta-feira "
    "saturday|sat|sábado|sabado|samstag|sonnabend sunday|sun|domingo|sonntag",
    0,
)
UNITS = numbered(
    "day|days|día|días|dia|dias|tag|tage|tagen week|weeks|semana|semanas|woche|wochen "
    "month|months|mes|meses|mês|monat|monate|monaten|monats "
    "year|years|año|años|ano|anos|jahr|jahre|jahren|jahres",
    0,
)
DAY, WEEK, MONTH, YEAR = range(4)
WEEKENDS = ("weekend", "fin de semana", "fim de semana", "wochenende")

MONTH_NAME = any_of(MONTHS)
YEAR_NUMBER = r"(?:19|20)\d\d"
ISO_DATE = rf"(?P<iso>{YEAR_NUMBER}[-/]\d\d[-/]\d\d)"
ENGLISH_DATE = (
    rf"(?:(?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{MONTH_NAME})\b\.?"
    rf"(?:,? (?:of )?(?P<year>{YEAR_NUMBER}))?)"
)
AMERICAN_DATE = (
    rf"(?:(?P<month>{MONTH_NAME})\.? (?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
    rf"(?:,? (?P<year>{YEAR_NUMBER}))?)"
)
SPANISH_DATE = (
    rf"(?:(?:el )?(?P<number>\d{{1,2}}) de (?P<month>{MONTH_NAME})\b"
    rf"(?:,? (?:de |del )?(?P<year>{YEAR_NUMBER}))?)"
)
GERMAN_DATE = rf"(?:(?P<number>\d{{1,2}})\. (?P<month>{MONTH_NAME})\b(?: (?P<year>{YEAR_NUMBER}))?)"
WRITTEN_DATES = (ISO_DATE, ENGLISH_DATE, AMERICAN_DATE, SPANISH_DATE, GERMAN_DATE)
"""Expressions with the groups `iso`, or `month`, `number` and perhaps `year`."""


def written_date(
    match: re.Match[str], *, near: date | None = None, direction: int = 0
) -> date | None:
    """Return the day that a match of a written date names, or None when its year is missing.

    A missing year is looked for before `near` (direction -1) or after it (1). Raises
    `ValueError` for a day or month that no calendar has.
    """
    groups = match.groupdict()
    if groups.get("iso"):
        return date.fromisoformat(groups["iso"].replace("/", "-"))
    month, number = month_named(groups["month"]), int(groups["number"])
    if groups["year"]:
        return date(int(groups["year"]), month, number)
    if near is None or direction == 0:
        return None
    this_year = date(near.year, month, number)
    is_wrong_side = this_year < near if direction > 0 else this_year > near
    return date(near.year + direction, month, number) if is_wrong_side else this_year


def month_named(name: str) -> int:
    """Return a month's number; `ValueError` for letters that only look like its name."""
    number = MONTHS.get(name.casefold())
    if number is None:
        raise ValueError(f"{name!r} is no month")
    return number


def days(start: date, count: int = 1) -> Span:
    """Return the span of so many days."""
    return start, start + timedelta(days=count)


def monday(day: date) -> date:
    """Return the day on which the day's week began."""
    return day - timedelta(days=day.weekday())


def month_of(year: int, month: int) -> Span:
    """Return a month; months below 1 and above 12 count on into other years."""
    year, index = year + (month - 1) // 12, (month - 1) % 12
    following = date(year + (index == 11), (index + 1) % 12 + 1, 1)
    return date(year, index + 1, 1), following


def year_of(year: int) -> Span:
    """Return a year."""
    return date(year, 1, 1), date(year + 1, 1, 1)


def unit_from(day: date, unit: int, offset: int) -> Span:
    """Return the day, week, month or year that lies `offset` of them from the day's own."""
    if unit == DAY:
        return days(day + timedelta(days=offset))
    if unit == WEEK:
        return days(monday(day) + timedelta(weeks=offset), 7)
    if unit == MONTH:
        return month_of(day.year, day.month + offset)
    return year_of(day.year + offset)


def weekday_from(day: date, weekday: int, side: int) -> Span:
    """Return the latest such weekday before the day (-1), that of its week (0), the next (1)."""
    if side == 0:
        return days(monday(day) + timedelta(days=weekday))
    ahead = (weekday - day.weekday()) % 7
    back = (day.weekday() - weekday) % 7
    return days(day + timedelta(days=(ahead or 7) if side > 0 else -(back or 7)))


def month_from(day: date, month: int, side: int) -> Span:
    """Return the latest such month before the day's own (-1), that of its year (0), the next."""
    if side == 0:
        return month_of(day.year, month)
    shift = (month <= day.month) if side > 0 else -(month >= day.month)
    return month_of(day.year + shift, month)


def weekend_from(day: date, side: int) -> Span:
    """Return the weekend of the former (-1), the same (0) or the following (1) week."""
    return days(monday(day) + timedelta(weeks=side, days=5), 2)
