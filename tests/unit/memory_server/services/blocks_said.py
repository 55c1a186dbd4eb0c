"""Conversations to be recorded as blocks, and what became of them."""

from collections.abc import Sequence
from typing import Any

from memory_server.domain.block import Message
from memory_server.domain.memory import Block, Memory
from memory_server.domain.scope import Scope
from memory_server.domain.turn import Role
from memory_server.ports.memories import MemoryQuery
from memory_server.ports.store import Store
from memory_server.services.block_drafts import Conversation


def said(text: str, **metadata: Any) -> Message:
    """Return a message: of the user in small letters, of the assistant in capitals."""
    role = Role.ASSISTANT if text.isupper() else Role.USER
    return Message(role=role, content=text, metadata=metadata)


def a_conversation(*texts: str, **changes: Any) -> Conversation:
    values: dict[str, Any] = {"conversation_id": "c", "messages": [said(text) for text in texts]}
    return Conversation(**values | changes)


def body(memory: Memory) -> Block:
    assert isinstance(memory.body, Block)
    return memory.body


async def everything(store: Store) -> Sequence[Memory]:
    return await store.memories.find(Scope(project_id="p"), MemoryQuery())
