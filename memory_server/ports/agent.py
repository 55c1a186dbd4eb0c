"""Whoever answers an invocation: the built-in agent, or one of the user's own."""

import secrets
from abc import abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from memory_server.domain.chunk import Chunk
from memory_server.domain.past_questions import PastQuestion
from memory_server.domain.turn import Turn


class AgentEventKind(StrEnum):
    """What an agent tells of while it works."""

    TEXT = "text"
    """A piece of the answer."""
    STEP = "step"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_END = "subagent_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """One thing an agent tells."""

    kind: AgentEventKind
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """One message to an agent, and what it needs to answer."""

    execution_id: str
    project_id: str
    user_id: str
    """The memory identity."""
    session_id: str
    message: str
    payload: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The caller's own headers; never logged, never stored."""
    context: str = ""
    """What is remembered, as text for a prompt."""
    chunks: Sequence[Chunk] = ()
    """The same, piece by piece."""
    recent: Sequence[Turn] = ()
    """The newest turns before the message."""
    past: PastQuestion | None = None
    """That the message asks how things were, with what held then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """How an agent stands."""

    name: str
    status: str
    """`ready`, `starting` or `failed`."""
    problem: str | None = None


@dataclass(slots=True, kw_only=True)
class Badge:
    """What a process of an agent shows to memory routes; good while it works on an execution.

    It lasts as long as the process, so that a client the agent made at import goes on working,
    and means whatever execution the process works on at the moment; between two it opens nothing.
    """

    token: str = field(default_factory=lambda: f"ae_exec_{secrets.token_urlsafe(32)}", repr=False)
    execution_id: str | None = None


class Badges(Protocol):
    """Knows which badges are out."""

    @abstractmethod
    def admit(self, badge: Badge) -> None:
        """Let a process of an agent use memory routes with its badge."""
        ...

    @abstractmethod
    def expel(self, badge: Badge) -> None:
        """Let a badge open nothing any more."""
        ...


class Agent(Protocol):
    """Answers messages."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What answers: the agent's name, a model's, or `local`."""
        ...

    @property
    @abstractmethod
    def remembers(self) -> bool:
        """Whether turns are recorded for it and a context is built."""
        ...

    @property
    @abstractmethod
    def id(self) -> str | None:
        """What the recorded turns name as their agent; None: nothing."""
        ...

    @abstractmethod
    def answer(self, call: AgentCall) -> AsyncGenerator[AgentEvent]:
        """Yield the answer in pieces, and what else is to be told.

        Closing the generator, or cancelling the task that waits for it, ends the work. Raises an
        `AgentError` or a `ProviderError` when there is no answer, or no more of it.
        """
        ...

    @property
    @abstractmethod
    def state(self) -> AgentState:
        """How it stands, without asking it."""
        ...

    @abstractmethod
    async def start(self) -> None:
        """Get ready ahead of the first call; a failure is kept for `state`."""
        ...

    @abstractmethod
    async def close(self) -> None:
        """End everything that runs for it."""
        ...
