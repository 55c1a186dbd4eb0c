"""What a search gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Source(StrEnum):
    """Where a chunk comes from."""

    STM = "stm"
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    TAXONOMIC = "taxonomic"
    PROCEDURAL = "procedural"
    CUSTOM = "custom"
    """Records of a type that the project declares; each type is a source of its own."""
    BLOCK = "block"
    """Exchanges of a conversation."""


CONTEXT_SOURCES = tuple(source for source in Source if source is not Source.CUSTOM)
"""What contexts are built from."""


def source_name(source: Source, custom_type: str | None = None) -> str:
    """Return the name under which an index keeps a source; no two sources share one.

    `custom` without a type is a source that holds nothing.
    """
    return source.value if custom_type is None else f"{source.value}.{custom_type}"


class RetrievalMode(StrEnum):
    """Which legs are asked."""

    SEMANTIC = "semantic"
    TEXT = "text"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One piece of memory, ready to be read."""

    id: str
    content: str
    source: Source
    timestamp: datetime
    score: float | None
    """0 to 1, higher is better; None where nothing was ranked."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOutcome:
    """How one source fared; a failed source is a value, not an exception."""

    source: Source
    requested_mode: RetrievalMode
    effective_mode: RetrievalMode
    count: int
    error: str | None = None
    retryable: bool = False
    """Whether its index is being built, so that the same call soon finds more."""
    reranked: bool = False
    """Whether a reranker put any of its finds in order."""
