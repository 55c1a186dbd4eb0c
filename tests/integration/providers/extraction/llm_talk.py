"""A conversation, and what a language model makes of it."""

from typing import Any

from memory_server.domain.candidate import Conversation, Extraction
from memory_server.domain.memory import MemoryType
from memory_server.providers.extraction.chat import ModelAccess
from memory_server.providers.extraction.llm import LanguageModelExtractor
from tests.chat_server import ChatServer, Reply
from tests.conversations import said

KEY = "sk-very-secret-key"
BOSTON: dict[str, Any] = {
    "subject": "user",
    "attribute": "home_airport",
    "value": "Boston",
    "exclusive": True,
    "text": "The user always flies out of Boston.",
    "evidence": [1],
}
CATS = {"attribute": "number_of_cats", "value": "2", "text": "The user has two cats."}
TALK = said("I always fly out of Boston.", "I have two cats.")


def extractor(
    server: ChatServer, *, timeout_seconds: float = 20.0, window_tokens: int = 6000
) -> LanguageModelExtractor:
    access = ModelAccess(
        provider="openai",
        model="tiny",
        key=KEY,
        base_url=server.url,
        timeout_seconds=timeout_seconds,
    )
    return LanguageModelExtractor(access, window_tokens=window_tokens)


async def facts_of(
    server: ChatServer, *replies: Reply, talk: Conversation = TALK, **options: Any
) -> Extraction:
    server.will(*replies)
    reader = extractor(server, **options)
    try:
        return await reader.extract(talk, MemoryType.SEMANTIC)
    finally:
        await reader.close()


def texts(extraction: Extraction) -> list[str]:
    return [candidate.body.chunk_text for candidate in extraction.candidates]
