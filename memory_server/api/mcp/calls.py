"""From a tool's arguments to the services, and back: what the routes do for bodies."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from pydantic import Field

from memory_server.api.caller import Caller
from memory_server.api.mcp.tools import CONTEXT_TOP_K, DEFAULT_TOP_K, ToolName
from memory_server.api.schemas.common import Body, Id, Query, Whole
from memory_server.api.schemas.search import SearchType
from memory_server.api.serving import Services
from memory_server.domain.budget import pack
from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.formats import FormatStyle
from memory_server.domain.limits import MAX_TOP_K
from memory_server.domain.policy import Right, check_right
from memory_server.domain.ranking import drop_near_duplicates, merge_sources
from memory_server.domain.turn import Role
from memory_server.services.context import DEFAULT_SOURCES, ContextRequest
from memory_server.services.search import SearchRequest
from memory_server.services.turns import TurnInput


class RecordTurn(Body):
    """What `record_turn` takes."""

    user_id: Id
    session_id: Id
    role: Literal["user", "assistant", "system"]
    """A tool's answer belongs to a call, which this tool cannot name."""
    content: str


class BuildContext(Body):
    """What `build_context` takes."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    user_id: Id
    session_id: Id
    query: Query
    top_k: Whole = Field(default=CONTEXT_TOP_K, ge=1, le=MAX_TOP_K)
    max_tokens: Whole | None = Field(default=None, ge=1)


class SearchMemories(Body):
    """What `search_memories` takes."""

    takes_blank: ClassVar[frozenset[str]] = frozenset(("query",))

    user_id: Id
    query: Query
    type: SearchType | None = None
    top_k: Whole = Field(default=DEFAULT_TOP_K, ge=1, le=MAX_TOP_K)
    max_tokens: Whole | None = Field(default=None, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answers: the same for a program and, as texts, for a model."""

    document: Mapping[str, Any]
    texts: Sequence[str]


async def call(
    name: ToolName, arguments: Mapping[str, Any], *, caller: Caller, services: Services
) -> ToolAnswer:
    """Call a tool; raises what the routes raise, and `ValidationError` for its arguments."""
    match name:
        case ToolName.RECORD_TURN:
            return await _record(RecordTurn.model_validate(arguments), caller, services)
        case ToolName.BUILD_CONTEXT:
            return await _context(BuildContext.model_validate(arguments), caller, services)
        case ToolName.SEARCH_MEMORIES:
            return await _search(SearchMemories.model_validate(arguments), caller, services)


async def _record(given: RecordTurn, caller: Caller, services: Services) -> ToolAnswer:
    check_right(caller.principal, Right.WRITE_MEMORY)
    recorded = await services.recording.record(
        caller.owner(user_id=given.user_id),
        TurnInput(session_id=given.session_id, role=Role(given.role), content=given.content),
    )
    turn = recorded.turn
    document = {
        "id": turn.id,
        "session_id": turn.session_id,
        "turn_seq": turn.turn_seq,
        "has_embedding": turn.has_embedding,
    }
    return ToolAnswer(document=document, texts=[_text(document)])


async def _context(given: BuildContext, caller: Caller, services: Services) -> ToolAnswer:
    answer = await services.context.build(
        ContextRequest(
            scope=caller.scope(user_id=given.user_id, session_id=given.session_id),
            query=given.query,
            sources=(Source.STM, *DEFAULT_SOURCES),
            top_k=given.top_k,
            max_tokens=given.max_tokens,
            style=FormatStyle.JINJA2,
        )
    )
    assert isinstance(answer.formatted, str), "this style is a text"
    memories = [{"id": chunk.id, "source": chunk.source.value} for chunk in answer.selected]
    about = {
        "token_count": answer.token_count,
        "memories": memories,
        "omitted": list(answer.dropped),
        "warnings": list(answer.warnings),
    }
    return ToolAnswer(
        document={"context": answer.formatted, **about}, texts=[answer.formatted, _text(about)]
    )


async def _search(given: SearchMemories, caller: Caller, services: Services) -> ToolAnswer:
    scope = caller.scope(user_id=given.user_id)
    question = services.retrieval.question(given.query)
    found = await asyncio.gather(
        *(
            services.retrieval.search(
                SearchRequest(
                    scope=scope, source=Source(kind), query=given.query, top_k=given.top_k
                ),
                question,
            )
            for kind in ([given.type] if given.type else get_args(SearchType))
        )
    )
    ranked = drop_near_duplicates(merge_sources(one.chunks for one in found))[: given.top_k]
    kept, omitted = _fitting(ranked, given.max_tokens)
    document = {
        "memories": [_shown(chunk) for chunk in kept],
        "omitted": omitted,
        "warnings": sorted({f"words only: {one.degraded}" for one in found if one.degraded}),
    }
    return ToolAnswer(document=document, texts=[_text(document)])


def _fitting(
    chunks: Sequence[Chunk], max_tokens: int | None
) -> tuple[Sequence[Chunk], Sequence[str]]:
    if max_tokens is None:
        return chunks, []
    packed = pack(chunks, max_tokens=max_tokens, reserve=0)
    return packed.kept, packed.dropped


def _shown(chunk: Chunk) -> Mapping[str, Any]:
    return {
        "id": chunk.id,
        "source": chunk.source.value,
        "content": chunk.content,
        "timestamp": chunk.timestamp.isoformat(),
        "score": chunk.score,
    }


def _text(document: Mapping[str, Any]) -> str:
    """Return a document for a model: JSON, so that no memory can pass for something else."""
    return json.dumps(document, ensure_ascii=False)
