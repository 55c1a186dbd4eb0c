"""A conversation as rules read it: who said which sentence, and when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.candidate import Conversation
from memory_server.domain.source_times import said_at, without_header
from memory_server.domain.turn import Role, Turn
from memory_server.providers.extraction.rules import cleaning, language, sentences

USER = "user"
"""The subject of what the user says about themself."""
_MAX_CHARACTERS = 100_000
"""Of one turn; what follows is left to be found as a turn."""
_PEOPLE = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One turn of a person, as sentences."""

    turn: Turn
    subject: str
    """Whom first-person words are about: `user`, or the speaker's name."""
    language: str
    said_at: datetime | None
    sentences: Sequence[str]


def by_people(conversation: Conversation) -> Iterator[Utterance]:
    """Yield what people said about themselves: the user, or each named speaker."""
    for turn in conversation.turns:
        if turn.role is Role.USER or (turn.role is Role.ASSISTANT and is_named(turn)):
            yield utterance(turn)


def by_anyone(conversation: Conversation) -> Iterator[Utterance]:
    """Yield what the user and the assistant said; tools and system prompts are no speakers."""
    for turn in conversation.turns:
        if turn.role in _PEOPLE:
            yield utterance(turn)


def is_named(turn: Turn) -> bool:
    """Whether the source names a person as the speaker."""
    return turn.speaker != turn.role.value


def utterance(turn: Turn) -> Utterance:
    """Return a turn as sentences."""
    text = cleaning.spoken(without_header(turn.content[:_MAX_CHARACTERS]))
    return Utterance(
        turn=turn,
        subject=turn.speaker.strip() if is_named(turn) else USER,
        language=language.guess(text),
        said_at=said_at(turn),
        sentences=sentences.split(text),
    )
