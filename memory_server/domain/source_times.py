"""A turn's own time, as its source wrote it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

from memory_server.domain.calendar import (
    MONTH_NAME,
    WEEKDAYS,
    WRITTEN_DATES,
    YEAR_NUMBER,
    any_of,
    written_date,
)
from memory_server.domain.turn import NewTurn

HEADERS = (
    re.compile(r"\A\s*\[(?P<text>[^\]\n]{6,60})\]"),
    re.compile(
        r"\A\s*\(?(?:date|fecha|time|timestamp|when)\s*:\s*(?P<text>[^\n)]{6,60})", re.IGNORECASE
    ),
    re.compile(
        rf"\A\s*(?P<text>{YEAR_NUMBER}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)(?!\S)"
    ),
    re.compile(
        rf"\A\s*(?P<text>[^\n]{{0,30}}\b{MONTH_NAME}\b[^\n]{{0,20}})\s*(?:\n|\Z)", re.IGNORECASE
    ),
)
"""Where a date header may stand at the beginning of a content."""
_CLOCK = re.compile(
    r"(?<!\d)(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?)?"
    r"\s*(?P<half>[ap])\.?m\.?"
    r"|(?<!\d)(?P<hour24>\d{1,2}):(?P<minute24>\d\d)(?::(?P<second24>\d\d)(?:\.\d+)?)?",
    re.IGNORECASE,
)
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)\b|\b(?P<utc>UTC|GMT|Z)\b")
_FILLING = re.compile(rf"\b(?:on|at|the|of|a las|{any_of(WEEKDAYS)})\b|[\s,.;:()T-]", re.IGNORECASE)
_DATE_FORMS = tuple(re.compile(rf"(?<!\w){form}(?!\w)", re.IGNORECASE) for form in WRITTEN_DATES)
_HEADER_REACH = 200
"""How far into a content a date header is looked for."""
_LARGEST_SECONDS = 1e11
"""Epoch numbers above it are milliseconds."""

EARLIEST = datetime(2, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
"""The first and last moment that can be reckoned with: a year before and after them, no
calculation with days and no change of time zone leaves what a date can be."""


def source_time(metadata: Mapping[str, Any], content: str) -> datetime | None:
    """Return a turn's own time, as its source tells it, or None.

    Looked for in metadata's `timestamp` and `date` (ISO 8601, English or Spanish forms, epoch
    seconds or milliseconds), then in a date header at the beginning of the content. A time
    without offset is taken as UTC, a date without time as its midnight. A moment before
    `EARLIEST` or after `LATEST` is no time of a conversation.
    """
    for key in ("timestamp", "date"):
        moment = _moment(metadata.get(key))
        if moment is not None:
            return moment
    header = _header(content)
    return header[0] if header else None


def said_at(turn: NewTurn) -> datetime | None:
    """Return when a turn was said: what was recorded with it, else what its source tells."""
    return turn.event_time or source_time(turn.metadata, turn.content)


def without_header(content: str) -> str:
    """Return the content without its date header, if it has one."""
    header = _header(content)
    return content[header[1] :].lstrip(" \t\n-:") if header else content


def _header(content: str) -> tuple[datetime, int] | None:
    for form in HEADERS:
        match = form.match(content[:_HEADER_REACH])
        moment = _moment(match["text"]) if match else None
        if match and moment:
            return moment, match.end()
    return None


def _moment(value: object) -> datetime | None:
    try:
        moment = _converted(value)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment is not None and EARLIEST <= moment <= LATEST else None


def _converted(value: object) -> datetime | None:
    match value:
        case bool():
            return None
        case datetime():
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        case int() | float():
            seconds = value / 1000 if abs(value) > _LARGEST_SECONDS else value
            return datetime.fromtimestamp(seconds, UTC)
        case str():
            return _written_moment(value.strip())
    return None


def _written_moment(text: str) -> datetime | None:
    if re.fullmatch(r"\d{10}|\d{13}", text):
        return _converted(int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _spelled_moment(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _spelled_moment(text: str) -> datetime | None:
    """Read `1:56 pm on 8 May, 2023` and the like; every word must be understood."""
    found = next((match for form in _DATE_FORMS if (match := form.search(text))), None)
    if found is None:
        return None
    day = written_date(found)
    rest = text[: found.start()] + " " + text[found.end() :]
    clock = _CLOCK.search(rest)
    rest = rest.replace(clock.group(), " ", 1) if clock else rest
    offset = _OFFSET.search(rest)
    rest = rest.replace(offset.group(), " ", 1) if offset else rest
    if day is None or _FILLING.sub("", rest):
        return None
    return datetime.combine(day, _time(clock), _zone(offset))


def _time(clock: re.Match[str] | None) -> time:
    if clock is None:
        return time()
    if clock["half"] is None:
        return time(int(clock["hour24"]), int(clock["minute24"]), int(clock["second24"] or 0))
    hour = int(clock["hour"]) % 12 + 12 * (clock["half"].casefold() == "p")
    return time(hour, int(clock["minute"] or 0), int(clock["second"] or 0))


def _zone(offset: re.Match[str] | None) -> timezone:
    if offset is None or offset["utc"]:
        return UTC
    minutes = int(offset["hours"]) * 60 + int(offset["minutes"])
    return timezone(timedelta(minutes=minutes if offset["sign"] == "+" else -minutes))
