"""Chunks that are valid by default; say only what matters."""

from datetime import UTC, datetime, timedelta
from typing import Any

from memory_server.domain.chunk import Chunk, Source

NOON = datetime(2026, 5, 8, 12, tzinfo=UTC)


def a_chunk(
    content: str = "Anna lives in Oslo.",
    *,
    id: str = "m1",
    source: Source = Source.SEMANTIC,
    score: float | None = 0.5,
    age: timedelta = timedelta(0),
    **metadata: Any,
) -> Chunk:
    return Chunk(
        id=id, content=content, source=source, timestamp=NOON - age, score=score, metadata=metadata
    )


def a_turn(content: str, *, seq: int, role: str = "user", **metadata: Any) -> Chunk:
    return a_chunk(
        content, id=f"t{seq}", source=Source.STM, score=None, role=role, turn_seq=seq, **metadata
    )
