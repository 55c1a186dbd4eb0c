"""What the tests of contexts do."""

from typing import Any

from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.memory import Fact
from memory_server.domain.scope import Scope
from memory_server.services.context import (
    ContextAnswer,
    ContextBuilding,
    ContextRequest,
    SourceRequest,
    SourcesRequest,
)
from memory_server.services.memories import MemoryKeeping, SaveRequest
from tests.unit.memory_server.services.conftest import ANA

IN_SESSION = Scope(project_id="p", user_id="ana", session_id="s1")


async def know(keeping: MemoryKeeping, text: str, **changes: Any) -> None:
    body = Fact(label=text[:20], text=text)
    await keeping.save(ANA, SaveRequest(**{"body": body, "upsert": True, **changes}))


def texts(answer: ContextAnswer) -> list[str]:
    return [chunk.content for chunk in answer.selected]


async def ask(context: ContextBuilding, query: str, **changes: Any) -> ContextAnswer:
    return await context.build(ContextRequest(**{"scope": ANA, "query": query, **changes}))


async def ask_sources(
    context: ContextBuilding, query: str, *sources: SourceRequest, **changes: Any
) -> ContextAnswer:
    return await context.build_from_sources(
        SourcesRequest(**{"scope": ANA, "query": query, "sources": sources, **changes})
    )


FACTS = SourceRequest(source=Source.SEMANTIC, mode=RetrievalMode.HYBRID)
EPISODES = SourceRequest(source=Source.EPISODIC, mode=RetrievalMode.HYBRID)
