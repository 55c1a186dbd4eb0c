"""Which metadata paths a filter may use, by source and by leg."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.filters import Kind

Legs = frozenset[RetrievalMode]
"""The legs that are indexed: TEXT, SEMANTIC, or both. HYBRID needs both."""

BOTH: Legs = frozenset((RetrievalMode.TEXT, RetrievalMode.SEMANTIC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """The declared keys and, for each source, the legs on which they are indexed."""

    keys: Mapping[str, Kind] = field(default_factory=dict)
    index: Mapping[Source, Legs] = field(default_factory=dict)

    def declared(self, source: Source, mode: RetrievalMode) -> Mapping[str, Kind]:
        """Return the keys that a filter on this source may name in this mode."""
        return self.keys if self.covers(source, mode) else {}

    def covers(self, source: Source, mode: RetrievalMode) -> bool:
        """Whether every leg of the mode is indexed for the source."""
        needed = BOTH if mode is RetrievalMode.HYBRID else {mode}
        return needed <= self.index.get(source, frozenset())

    def everywhere(self) -> Mapping[str, Kind]:
        """Return all declared keys, for requests that do not name a leg."""
        return self.keys
