"""Moments as SQLite keeps them: whole microseconds since 1970, in UTC."""

from datetime import UTC, datetime, timedelta

from memory_server.domain.filters import parse_date

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """Return an aware moment as microseconds, exactly."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return the moment in UTC."""
    return EPOCH + timedelta(microseconds=micros)


def maybe_micros(moment: datetime | None) -> int | None:
    """Return `to_micros` of a moment that may be missing."""
    return None if moment is None else to_micros(moment)


def maybe_moment(micros: int | None) -> datetime | None:
    """Return `from_micros` of a number that may be missing."""
    return None if micros is None else from_micros(micros)


def micros_of_text(text: object) -> int | None:
    """Return what an ISO 8601 text means, or None: the SQL function `micros`."""
    moment = parse_date(text) if isinstance(text, str) else None
    return maybe_micros(moment)
