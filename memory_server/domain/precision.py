"""How exactly a time is known, and a stretch of time in words."""

import re
from datetime import datetime, time, timedelta
from enum import StrEnum

from memory_server.domain.calendar import WEEKDAYS, in_words

_DAY, _WEEKEND, _WEEK = timedelta(days=1), timedelta(days=2), timedelta(days=7)
_DECADE = 10


class Precision(StrEnum):
    """What a time is as wide as. It follows from the time's ends, so nothing else is stored."""

    MOMENT = "moment"
    """Hours or minutes of a day: a conversation's own time."""
    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"
    DECADE = "decade"
    DAYS = "days"
    """Any other number of days."""


def precision_of(start: datetime, end: datetime) -> Precision:
    """Return how exactly a time from `start` to before `end` is known, in their own offset."""
    if not (_is_midnight(start) and _is_midnight(end) and start < end):
        return Precision.MOMENT if start.date() == _last(start, end).date() else Precision.DAYS
    return _of_years(start, end) or _of_days(start, end)


def span_in_words(start: datetime, end: datetime) -> str:
    """Return "7 May 2023", "week of 1 May 2023", "May 2023", "5 May 2023 to 9 May 2023"."""
    match precision_of(start, end):
        case Precision.MOMENT | Precision.DAY:
            return in_words(start)
        case Precision.WEEKEND | Precision.WEEK as width:
            return f"{width.value} of {in_words(start)}"
        case Precision.MONTH:
            return in_words(start).partition(" ")[2]
        case Precision.YEAR:
            return str(start.year)
        case Precision.DECADE:
            return f"{start.year}s"
        case Precision.DAYS:
            return f"{in_words(start)} to {in_words(_last(start, end))}"


def took_place(start: datetime, end: datetime) -> str:
    """Return the span as one says when something was: "in the week of 1 May 2023"."""
    words = span_in_words(start, end)
    match precision_of(start, end):
        case Precision.MOMENT | Precision.DAY:
            return f"on {words}"
        case Precision.WEEKEND:
            return f"on the {words}"
        case Precision.WEEK | Precision.DECADE:
            return f"in the {words}"
        case Precision.MONTH | Precision.YEAR:
            return f"in {words}"
        case Precision.DAYS:
            return f"from {words}"


def is_said_so(words: str, start: datetime, end: datetime) -> bool:
    """Return whether a time was said in the words in which it is shown, `on` and `the` aside."""
    return _bare(words) == _bare(took_place(start, end))


def _bare(words: str) -> str:
    """Return a time without the words that lead to it."""
    flat = " ".join(words.casefold().split())
    return re.sub(r"^(?:(?:on|in|from|during) )?(?:the )?", "", flat)


def _of_years(start: datetime, end: datetime) -> Precision | None:
    """Return whether it is a month, a year or a decade."""
    if (start.day, end.day) != (1, 1):
        return None
    months = (end.year - start.year) * 12 + end.month - start.month
    if months == 1:
        return Precision.MONTH
    if start.month != 1:
        return None
    if months == 12:
        return Precision.YEAR
    is_decade = months == 12 * _DECADE and start.year % _DECADE == 0
    return Precision.DECADE if is_decade else None


def _of_days(start: datetime, end: datetime) -> Precision:
    first, length = start.date(), end.date() - start.date()
    if length == _DAY:
        return Precision.DAY
    if length == _WEEKEND and first.weekday() == WEEKDAYS["saturday"]:
        return Precision.WEEKEND
    return Precision.WEEK if length == _WEEK else Precision.DAYS


def _last(start: datetime, end: datetime) -> datetime:
    return end - timedelta(microseconds=1) if end > start else start


def _is_midnight(moment: datetime) -> bool:
    return moment.time() == time()
