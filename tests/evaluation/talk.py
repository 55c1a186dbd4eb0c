"""A conversation and questions of our own, small enough to read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evaluation.conversations import Conversation, Dataset, Question, Turn

MAY, JUNE = datetime(2024, 5, 3, 10, tzinfo=UTC), datetime(2024, 6, 1, 18, 30, tzinfo=UTC)
SAID: Sequence[tuple[str, str, str, datetime]] = (
    ("first", "user", "I moved to Lisbon last week, right by the river.", MAY),
    ("first", "assistant", "How lovely! Is the flat large?", MAY),
    ("first", "user", "Small, but my dog Biscuit likes the balcony.", MAY),
    ("second", "assistant", "Welcome back! How is the new town?", JUNE),
    ("second", "user", "I started to play the cello in an orchestra.", JUNE),
    ("second", "user", "We rehearse on Tuesdays.", JUNE),
    ("second", "assistant", "The cello is a noble instrument.", JUNE),
)


def a_conversation(key: str = "talk", said: Sequence[Any] = SAID) -> Conversation:
    turns = [
        Turn(
            key=f"{session}:{number}",
            session=session,
            speaker="Ana" if role == "user" else role,
            role=role,
            text=text,
            said_at=at,
        )
        for number, (session, role, text, at) in enumerate(said)
    ]
    return Conversation(key=key, turns=turns)


def a_question(key: str, text: str, *evidence: str, conversation: str = "talk") -> Question:
    return Question(
        key=key,
        conversation=conversation,
        text=text,
        category="plain",
        answers=("Lisbon",),
        evidence=frozenset(evidence),
    )


QUESTIONS = (
    a_question("q1", "Which town by the river did she move to?", "first:0"),
    a_question("q2", "Which instrument does she play in the orchestra?", "second:4"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk(Dataset):
    """One conversation or more, with the same questions about each."""

    of: Sequence[Conversation]
    asked: Sequence[Question] = QUESTIONS

    def conversations(self) -> Iterator[tuple[Conversation, Sequence[Question]]]:
        for one in self.of:
            yield (
                one,
                [question for question in self.asked if question.conversation == one.key],
            )


def a_dataset(*conversations: Conversation, **changes: Any) -> Talk:
    return Talk(name="own", digest="d" * 64, of=conversations or (a_conversation(),), **changes)
