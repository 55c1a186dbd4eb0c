"""Answers from memory alone, without a model."""

import re
from collections.abc import AsyncIterator, Sequence

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.turn import Role, Turn
from memory_server.ports.answerer import Answerer
from memory_server.providers.answering.matching import best

NOTHING_KNOWN = "I have nothing in memory about that."
NOTED = "Noted."
_ASKING = re.compile(
    r"\?\s*$|^\s*¿|^\s*(?:(?:please|hey|hi|ok|so|and|por favor),?\s+)*(?:what|what's|when|where"
    r"|which"
    r"|who|whom|whose|why|how|do|does|did|is|are|am|was|were|can|could|should|tell|remind|list|show"
    r"|give|recall|find|book|plan|suggest|recommend|help|qué|que|dónde|donde|cuándo|cuando|cómo"
    r"|quién|cuál|cuáles|cuánto|cuántos|dime|recuérdame|muéstrame)\b",
    re.IGNORECASE,
)


class LocalAnswerer(Answerer):
    """Quotes what is remembered; it reasons about nothing and says so by quoting."""

    @property
    def name(self) -> str:
        return "local"

    async def answer(
        self, message: str, *, context: str, chunks: Sequence[Chunk], recent: Sequence[Turn]
    ) -> AsyncIterator[str]:
        yield _answer(message, chunks, recent)


def is_asking(message: str) -> bool:
    """Whether the message wants an answer, rather than telling something."""
    return bool(_ASKING.search(message))


def _answer(message: str, chunks: Sequence[Chunk], recent: Sequence[Turn]) -> str:
    if not is_asking(message):
        return NOTED
    said = [turn.content for turn in reversed(recent) if turn.role is Role.USER]
    told = best(message, (text for text in said if not is_asking(text)), limit=1)
    facts = best(message, (c.content for c in chunks if c.source is not Source.EPISODIC))
    # What was said last has the last word: no memory may have been made of it yet.
    if told and (not facts or told[0].cover >= facts[0].cover):
        return f'From memory, you said: "{told[0].sentence}"'
    # An episode keeps what was said then; a fact is kept up to date.
    known = facts or best(message, (c.content for c in chunks if c.source is Source.EPISODIC))
    if known:
        return "From memory: " + " ".join(_closed(match.sentence) for match in known)
    return NOTHING_KNOWN


def _closed(sentence: str) -> str:
    return sentence if sentence[-1] in ".!?…\"'”" else sentence + "."
