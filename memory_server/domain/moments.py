"""Moments as every store keeps them: whole microseconds since 1970, in UTC."""

from datetime import UTC, datetime, timedelta

from memory_server.domain.filters import parse_date
from memory_server.domain.source_times import EARLIEST, LATEST

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def within_reach(moment: datetime) -> datetime:
    """Return the moment, or the nearest one that survives every change of its time zone."""
    if moment < EARLIEST:
        return EARLIEST
    return min(moment, LATEST)


def exact_micros(moment: datetime) -> int:
    """Return any aware moment as microseconds: to compare with, not to be read back."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Return an aware moment as microseconds, exactly; one out of reach as the nearest within."""
    return exact_micros(within_reach(moment))


def from_micros(micros: int) -> datetime:
    """Return the moment in UTC, the nearest within reach: whatever is stored can be read."""
    return EPOCH + timedelta(microseconds=min(max(micros, _EARLIEST), _LATEST))


def maybe_micros(moment: datetime | None) -> int | None:
    """Return `to_micros` of a moment that may be missing."""
    return None if moment is None else to_micros(moment)


def maybe_moment(micros: int | None) -> datetime | None:
    """Return `from_micros` of a number that may be missing."""
    return None if micros is None else from_micros(micros)


def moment_text(moment: datetime | None) -> str | None:
    """Return a moment that keeps its offset as text."""
    return None if moment is None else within_reach(moment).isoformat()


def moment_of_text(text: str | None) -> datetime | None:
    """Return the moment that `moment_text` wrote."""
    return None if text is None else within_reach(datetime.fromisoformat(text))


def micros_of_text(text: object) -> int | None:
    """Return what an ISO 8601 text means, or None: the SQL function `micros`."""
    moment = parse_date(text) if isinstance(text, str) else None
    return None if moment is None else exact_micros(moment)


_EARLIEST = exact_micros(EARLIEST)
_LATEST = exact_micros(LATEST)
