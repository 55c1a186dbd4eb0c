"""What an agent is told beside the message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Invocation:
    """One call of the agent: for whom, in which session, and what came with the message."""

    execution_id: str
    session_id: str
    user_id: str
    """Whose memory it is: memory calls made meanwhile may use this user's, and no other's."""
    project_id: str
    payload: Mapping[str, Any] | None = None
    """The object that the caller sent along."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The caller's own headers, `X-Mdb-Agent-Engine-Custom-` taken off, in lower case."""
    context: str = ""
    """What is remembered about the message, and what the user said in other sessions that is no
    memory yet, as text for a prompt; empty without memory."""
    history: Sequence[Mapping[str, str]] = ()
    """The newest turns before the message, oldest first: {"role": ..., "content": ...}."""
