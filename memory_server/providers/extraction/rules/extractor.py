"""The built-in extractor."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from memory_server.domain.candidate import Candidate, Conversation, Extraction
from memory_server.domain.memory import MemoryType
from memory_server.errors import ProviderUnavailable
from memory_server.ports.extractor import Extractor
from memory_server.providers.extraction.rules import (
    episodic,
    procedural,
    remarks,
    semantic,
    taxonomic,
)
from memory_server.providers.extraction.rules.earnest import in_earnest
from memory_server.providers.extraction.rules.reading import unread

VERSION = "4"
"""Grows when the rules propose something else for the same words."""


def _facts_and_remarks(conversation: Conversation) -> Sequence[Candidate]:
    meant = list(in_earnest(conversation))
    facts = semantic.facts_in(meant)
    return [*facts, *remarks.remarks_in(meant, facts)]


_READERS: Mapping[MemoryType, Callable[[Conversation], Sequence[Candidate]]] = {
    MemoryType.SEMANTIC: _facts_and_remarks,
    MemoryType.EPISODIC: episodic.extract,
    MemoryType.TAXONOMIC: taxonomic.extract,
    MemoryType.PROCEDURAL: procedural.extract,
}


class RuleExtractor(Extractor):
    """Reads English and Spanish by written rules: the same words always give the same memories.

    It prefers missing a fact to inventing one. One thread of its own reads, one conversation
    after the other: requests are answered meanwhile.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rules")
        self._is_closed = False

    def version(self, kind: MemoryType) -> str:
        return f"rules/{VERSION}"

    async def extract(self, conversation: Conversation, kind: MemoryType) -> Extraction:
        if self._is_closed:
            raise ProviderUnavailable("This extractor has been closed; build another.")
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._thread, _READERS[kind], conversation)
        return Extraction(candidates=tuple(found), rejected=tuple(unread(conversation)))

    async def check(self) -> None:
        """Rules are always ready."""

    async def close(self) -> None:
        """Drop what waits; what is being read ends by itself."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
