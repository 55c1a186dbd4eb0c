"""Which metadata paths a filter may use, by source and by leg."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from memory_server.domain.chunk import CONTEXT_SOURCES, RetrievalMode, Source
from memory_server.domain.filter_parsing import parse_filter, parse_lenient
from memory_server.domain.filters import Filter, Kind
from memory_server.errors import UndeclaredPath
from memory_server.project_config import MemoryConfig

Legs = frozenset[RetrievalMode]
"""The legs that are indexed: TEXT, SEMANTIC, or both. HYBRID needs both."""

BOTH: Legs = frozenset((RetrievalMode.TEXT, RetrievalMode.SEMANTIC))

_LEGS: Mapping[str, Legs] = {
    "text": frozenset((RetrievalMode.TEXT,)),
    "vector": frozenset((RetrievalMode.SEMANTIC,)),
    "both": BOTH,
}
_CONFIGURED = {Source.STM: "short_term"}
"""What sources are called in the configuration, where that differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """The declared keys and, for each source, the legs on which they are indexed.

    Every filter of a client is read here, whatever it asks.
    """

    keys: Mapping[str, Kind] = field(default_factory=dict)
    index: Mapping[Source, Legs] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: MemoryConfig) -> Self:
        """Return what a configuration declares; blocks take every key on both legs."""
        sources = {_CONFIGURED.get(source, source.value): source for source in CONTEXT_SOURCES}
        declared: dict[Source, Legs] = {
            sources[name]: _LEGS[legs] for name, legs in memory.partition_index.items()
        }
        return cls(
            keys={key.name: key.type for key in memory.partition_keys},
            index=declared | {Source.BLOCK: BOTH},
        )

    def filter(
        self, source: Source, mode: RetrievalMode, document: Mapping[str, Any] | None
    ) -> Filter | None:
        """Return the filter of a search in one source and mode; without a document, None.

        Raises `UndeclaredPath` for a path that is not indexed for all legs of the mode, and
        `InvalidFilter`.
        """
        if not document:
            return None
        note = f" on {source.value} in mode {mode.value}"
        declared = self.keys if self.covers(source, mode) else {}
        try:
            return parse_filter(document, declared=declared, note=note)
        except UndeclaredPath as error:
            raise type(error)(f"{error}. {self._indexed(source, mode)}") from error

    def filter_in_any_mode(
        self, source: Source, document: Mapping[str, Any] | None
    ) -> tuple[RetrievalMode, Filter | None]:
        """Return the widest mode in which the source takes this filter, and the filter.

        Raises what `filter` raises if there is none.
        """
        try:
            return RetrievalMode.HYBRID, self.filter(source, RetrievalMode.HYBRID, document)
        except UndeclaredPath:
            legs = self.index.get(source, frozenset())
            if len(legs) != 1:
                raise
        (leg,) = legs
        return leg, self.filter(source, leg, document)

    def lenient_filter(self, document: Mapping[str, Any] | None) -> tuple[Filter | None, list[str]]:
        """Return the one filter of several sources, and warnings about what it will not do."""
        return parse_lenient(document, declared=self.keys)

    def covers(self, source: Source, mode: RetrievalMode) -> bool:
        """Whether every leg of the mode is indexed for the source."""
        needed = BOTH if mode is RetrievalMode.HYBRID else {mode}
        return needed <= self.index.get(source, frozenset())

    def _indexed(self, source: Source, mode: RetrievalMode) -> str:
        """Say in which modes the source takes the declared keys, and what else would."""
        if not self.keys:
            return "No metadata key is declared in memory.metadata_partition_key"
        modes = " or ".join(mode.value for mode in RetrievalMode if self.covers(source, mode))
        if self.covers(source, mode):
            return f"On {source.value} they are accepted in mode {modes}"
        keys = ", ".join(f"metadata.{key}" for key in sorted(self.keys))
        if modes:
            return f"On {source.value}, {keys} can be filtered on in mode {modes}"
        return (
            f"On {source.value} no declared key ({keys}) is indexed: "
            f"list {_CONFIGURED.get(source, source.value)} in memory.metadata_partition_index"
        )
