"""What the index is told of a turn or a memory, whichever store keeps it."""

from collections.abc import Mapping
from typing import Any

from memory_server.domain import words
from memory_server.domain.chunk import Source
from memory_server.domain.custom_type import tag_tree
from memory_server.domain.memory import Block, Body, Episode, Memory, Procedure, Record
from memory_server.domain.turn import NewTurn
from memory_server.search.local.documents import Document, State

OF_BLOCKS = ("viewpoint", "speaker", "exchange_id")
"""What of a block searches may name, beside its conversation, which is its session."""


def turn_entry(turn: NewTurn, turn_seq: int) -> Document:
    """Return a turn as the index sees it."""
    return Document(
        id=turn.id,
        project_id=turn.project_id,
        source=Source.STM,
        text=words.turn_text(turn),
        fields=turn_fields(turn),
        user_id=turn.user_id,
        agent_id=turn.agent_id,
        session_id=turn.session_id,
        position=turn_seq,
    )


def memory_entry(memory: Memory, *, hidden: bool = False) -> Document:
    """Return a version of a memory as the index sees it; `hidden`: the memory is deleted."""
    return Document(
        id=memory.id,
        project_id=memory.project_id,
        source=Source(memory.type.value),
        custom_type=memory.body.custom_type if isinstance(memory.body, Record) else None,
        text=memory.body.index_text,
        fields=memory_fields(memory),
        user_id=memory.user_id,
        agent_id=memory.agent_id,
        session_id=memory.session_id,
        visibility=memory.visibility,
        state=state_of(memory, hidden=hidden),
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        position=memory.body.position if isinstance(memory.body, Block) else None,
    )


def turn_fields(turn: NewTurn) -> Mapping[str, Any]:
    """Return what filters over turns may name."""
    named = {
        "agent_id": turn.agent_id,
        "session_id": turn.session_id,
        "role": turn.role.value,
    }
    return {"metadata": turn.metadata, **_present(named)}


def memory_fields(memory: Memory) -> Mapping[str, Any]:
    """Return what filters over memories may name."""
    named = {
        "agent_id": memory.agent_id,
        "session_id": memory.session_id,
        "domain": getattr(memory.body, "domain", None),
        "tags": _tags(memory.body),
    }
    if isinstance(memory.body, Block):
        named |= {name: str(getattr(memory.body, name)) for name in OF_BLOCKS}
    return {"metadata": memory.metadata, **_present(named)}


def state_of(memory: Memory, *, hidden: bool) -> State:
    """Return which searches find a version."""
    if hidden or memory.deleted:
        return State.HIDDEN
    return State.LIVE if memory.is_latest else State.PAST


def _tags(body: Body) -> Any:
    match body:
        case Record():
            return tag_tree(body.tags)
        case Episode() | Procedure():
            return body.tags
    return None


def _present(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}
