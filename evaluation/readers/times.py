"""When something was, in words: dates as they were said, and relative words put to a date."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

_MONTHS: Sequence[str] = (
    "January February March April May June July August September October November December"
).split()
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAYS: Mapping[str, str] = {
    "mon": "Monday",
    "tue": "Tuesday",
    "wed": "Wednesday",
    "thu": "Thursday",
    "fri": "Friday",
    "sat": "Saturday",
    "sun": "Sunday",
}
_DAY = r"(mon|tue|wed|thu|fri|sat|sun)(?:s|rs?|nes|ur|urs)?(?:day)?s?\b"
NUMBERS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
} | {"a": 1, "an": 1, "couple of": 2, "a couple of": 2}
COUNT = r"(\d+|a couple of|couple of|an?|" + "|".join(list(NUMBERS)[:12]) + ")"

Rendered = Callable[[re.Match[str], datetime], str]


def times_in(text: str, at: datetime | None) -> Iterator[tuple[int, str]]:
    """Yield where a text tells a time, and that time; relative words need the day of the text."""
    taken: list[tuple[int, int]] = []
    for pattern, render, needs_day in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other_end and other < end for other, other_end in taken):
                continue
            if at is not None:
                taken.append((start, end))
                yield start, render(match, at)
            elif not needs_day:
                taken.append((start, end))
                yield start, match.group().strip()


def day_of(moment: datetime) -> str:
    """Write a day as `8 May 2023`."""
    return f"{moment.day} {moment:%B %Y}"


def number_of(word: str) -> int:
    """Read a number in digits or words."""
    lowered = word.lower()
    return int(lowered) if lowered.isdigit() else NUMBERS[lowered]


def _month_name(word: str) -> str:
    return next(name for name in _MONTHS if name.lower().startswith(word.lower()[:3]))


def _date(day: str, month: str, year: str | None, at: datetime) -> str:
    return f"{int(day)} {_month_name(month)} {year or at.year}"


def _ago(match: re.Match[str], at: datetime) -> str:
    count, unit = number_of(match[1]), match[2].lower()
    match unit:
        case "day":
            return day_of(at - timedelta(days=count))
        case "week":
            return f"{match[1]} week{'s' if count > 1 else ''} before {day_of(at)}"
        case "month":
            return _months_from(at, -count)
    return str(at.year - count)


def _months_from(at: datetime, months: int) -> str:
    place = at.year * 12 + at.month - 1 + months
    return f"{_MONTHS[place % 12]} {place // 12}"


def _side(word: str) -> tuple[int, str]:
    lowered = word.lower()
    if lowered in {"last", "past", "previous"}:
        return -1, "before"
    return (1, "after") if lowered in {"next", "coming"} else (0, "of")


def _period(match: re.Match[str], at: datetime) -> str:
    (steps, side), unit = _side(match[1]), match[2].lower()
    match unit:
        case "month":
            return _months_from(at, steps)
        case "year":
            return str(at.year + steps)
        case "night":
            return day_of(at - timedelta(days=1))
    return f"The {unit} {side} {day_of(at)}"


def _weekday(match: re.Match[str], at: datetime) -> str:
    _, side = _side(match[1] or "last")
    return f"The {_DAYS[match[2].lower()]} {side} {day_of(at)}"


def _month(match: re.Match[str], at: datetime) -> str:
    name = _month_name(match[2])
    steps, _ = _side(match[1])
    later = _MONTHS.index(name) + 1 > at.month
    year = at.year - 1 if steps < 0 and later else at.year
    return f"{name} {year + (1 if steps > 0 and not later else 0)}"


def _shifted(days: int) -> Rendered:
    return lambda _, at: day_of(at + timedelta(days=days))


_PATTERNS: Sequence[tuple[re.Pattern[str], Rendered, bool]] = [
    (re.compile(pattern, re.IGNORECASE), render, needs_day)
    for pattern, render, needs_day in (
        (
            rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: (\d{{4}}))?",
            lambda match, at: _date(match[1], match[2], match[3], at),
            False,
        ),
        (
            rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?",
            lambda match, at: _date(match[2], match[1], match[3], at),
            False,
        ),
        (rf"\b{_MONTH},? (\d{{4}})\b", lambda m, _: f"{_month_name(m[1])} {m[2]}", False),
        (rf"\b{COUNT} (day|week|month|year)s? (?:ago|back)\b", _ago, True),
        (r"\bthe day before yesterday\b", _shifted(-2), True),
        (r"\byesterday\b", _shifted(-1), True),
        (r"\btomorrow\b", _shifted(1), True),
        (r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", _shifted(0), True),
        (
            r"\b(?:a |the )?(?:few|couple) (days|weeks) (?:ago|back)\b",
            lambda match, at: f"A few {match[1].lower()} before {day_of(at)}",
            True,
        ),
        (
            r"\b(?:a |the )?(?:few|couple) (months|years) (?:ago|back)\b",
            lambda match, _: f"A few {match[1].lower()} ago",
            False,
        ),
        (
            r"\bthe other day\b",
            lambda _, at: f"A few days before {day_of(at)}",
            True,
        ),
        (
            r"\b(last|past|previous|this|next|coming) (weekend|week|month|year|night|summer"
            r"|winter|spring|fall|autumn)\b",
            _period,
            True,
        ),
        (rf"\b(last|past|this|next|coming) {_DAY}", _weekday, True),
        (rf"\bon()? {_DAY}", _weekday, True),
        (rf"\b(in|last|this|next|since|until|by) {_MONTH}", _month, True),
        (r"\b(?:in|since|back in|around|of) ((?:19|20)\d\d)\b", lambda match, _: match[1], False),
    )
]
