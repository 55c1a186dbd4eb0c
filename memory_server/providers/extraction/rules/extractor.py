"""The built-in extractor."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from memory_server.domain.candidate import Candidate, Conversation, Extraction
from memory_server.domain.memory import MemoryType
from memory_server.ports.extractor import Extractor
from memory_server.providers.extraction.rules import episodic, procedural, semantic, taxonomic

VERSION = "1"
"""Grows when the rules propose something else for the same words."""

_READERS: Mapping[MemoryType, Callable[[Conversation], Sequence[Candidate]]] = {
    MemoryType.SEMANTIC: semantic.extract,
    MemoryType.EPISODIC: episodic.extract,
    MemoryType.TAXONOMIC: taxonomic.extract,
    MemoryType.PROCEDURAL: procedural.extract,
}


class RuleExtractor(Extractor):
    """Reads English and Spanish by written rules: the same words always give the same memories.

    It prefers missing a fact to inventing one.
    """

    @property
    def name(self) -> str:
        return f"rules/{VERSION}"

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        found = await asyncio.to_thread(_READERS[kind], conversation)
        return Extraction(candidates=tuple(found))

    async def check(self) -> None:
        """Rules are always ready."""

    async def close(self) -> None:
        """Rules hold nothing."""
