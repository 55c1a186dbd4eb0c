"""A conversation as rules read it: who said which sentence, and when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_server.domain.candidate import Conversation
from memory_server.domain.source_times import said_at, without_header
from memory_server.domain.turn import Role, Turn
from memory_server.providers.extraction.rules import cleaning, language, sentences

USER = "user"
"""The subject of what the user says about themself."""
MAX_CHARACTERS = 20_000
"""Of one turn; nobody says more in one go, and what is pasted is found as a turn."""
_PEOPLE = (Role.USER, Role.ASSISTANT)
_QUOTES_MEMORY = "local"
"""The answerer that only quotes memory: what it says is known already, and nobody's own word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One turn of a person, as sentences."""

    turn: Turn
    """Cut off where reading ends."""
    subject: str
    """Whom first-person words are about: `user`, or the speaker's name."""
    language: str
    said_at: datetime | None
    sentences: Sequence[str]


def by_people(conversation: Conversation) -> Iterator[Utterance]:
    """Yield what people said about themselves: the user, or each named speaker."""
    for turn in _said_anew(conversation):
        if turn.role is Role.USER or (turn.role is Role.ASSISTANT and is_named(turn)):
            yield utterance(turn)


def by_anyone(conversation: Conversation) -> Iterator[Utterance]:
    """Yield what the user and the assistant said; tools and system prompts are no speakers."""
    for turn in _said_anew(conversation):
        if turn.role in _PEOPLE:
            yield utterance(turn)


def _said_anew(conversation: Conversation) -> Iterator[Turn]:
    for turn in conversation.turns:
        if turn.role is Role.USER or turn.metadata.get("answered_by") != _QUOTES_MEMORY:
            yield turn


def is_named(turn: Turn) -> bool:
    """Whether the source names a person as the speaker."""
    return turn.speaker != turn.role.value


def utterance(turn: Turn) -> Utterance:
    """Return a turn, as far as it is read, as sentences."""
    turn = replace(turn, content=turn.content[:MAX_CHARACTERS])
    text = cleaning.spoken(without_header(turn.content))
    return Utterance(
        turn=turn,
        subject=turn.speaker.strip() if is_named(turn) else USER,
        language=language.guess(text),
        said_at=said_at(turn),
        sentences=sentences.split(text),
    )
