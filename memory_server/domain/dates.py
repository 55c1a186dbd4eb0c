"""When things were said, and when the things said took place."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memory_server.domain.memory import EventTime


def source_time(metadata: Mapping[str, Any], content: str) -> datetime | None:
    """Return a turn's own time, as its source tells it; a time without offset is taken as UTC."""
    del content
    for key in ("timestamp", "date"):
        value = metadata.get(key)
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value)
            except ValueError:
                continue
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def resolve(sentence: str, said_at: datetime | None) -> EventTime | None:
    """Return when what a sentence tells took place, or None when its words do not say."""
    del sentence, said_at
    return None
