"""What a memory is measured on: conversations, and questions about them with what is right."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance. `key` is unique in its conversation and says nothing of any question."""

    key: str
    session: str
    speaker: str
    role: str
    """`user` or `assistant`."""
    text: str
    """What was said; a shared picture's caption is part of it."""
    said_at: datetime | None = None
    """With the data's own clock, as UTC where it names no zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Everything one user said and was told, session by session, in order."""

    key: str
    turns: Sequence[Turn]

    @property
    def recorded(self) -> Sequence[Turn]:
        """Return the turns that say something: a server takes no others."""
        return [turn for turn in self.turns if turn.text.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about one conversation, and what a good memory brings for it."""

    key: str
    """Unique in the dataset."""
    conversation: str
    text: str
    category: str
    """As the data names it: LoCoMo's number as text, LongMemEval's question type."""
    answers: Sequence[str] = ()
    """Right answers, any of which will do; empty where the data has none."""
    rubric: str | None = None
    """What a judge reads in place of an answer (preferences)."""
    evidence: frozenset[str] = frozenset()
    """Keys of the turns that hold the answer; empty: retrieval is not defined."""
    sessions: frozenset[str] = frozenset()
    """Sessions that hold the answer."""
    stale: frozenset[str] = frozenset()
    """Turns that held what later evidence replaced: to be found after it, or not at all. A
    benchmark that counts them as evidence has them in both; what is fresh is evidence without them.
    """
    is_abstention: bool = False
    """Whether the right answer is that it was never said."""
    is_adversarial: bool = False
    """Whether the question has a false premise; left out of averages unless asked for."""
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset(ABC):
    """Questions, and a way to read the conversations one at a time.

    `conversations` reads from the start at each call and holds one conversation in memory, since
    the largest data is of gigabytes.
    """

    name: str
    """`locomo`, `longmemeval`, or `own`."""
    digest: str
    """SHA-256 of the data's bytes and of what was chosen of it."""
    is_synthetic: bool = False
    """Whether it was generated: its scores are never called by a real benchmark's name."""
    notes: Sequence[str] = field(default_factory=tuple)
    """What a reader of the figures must know: licence, what is left out and why."""

    @abstractmethod
    def conversations(self) -> Iterator[tuple[Conversation, Sequence[Question]]]:
        """Read each conversation with its questions."""
        ...
