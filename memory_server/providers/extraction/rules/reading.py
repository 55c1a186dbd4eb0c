"""A conversation as rules read it: who said which sentence, and when."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_server.domain.candidate import Conversation, Rejected
from memory_server.domain.limits import MAX_READ_OF_CONVERSATION, MAX_READ_OF_TURN
from memory_server.domain.source_times import said_at, without_header
from memory_server.domain.turn import Role, Turn
from memory_server.providers.extraction.rules import cleaning, language, sentences

USER = "user"
"""The subject of what the user says about themself."""
_MAX_EXCERPT = 200
_END = re.compile(r"[.!?…]\s|\n")
_PEOPLE = (Role.USER, Role.ASSISTANT)


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
    for turn in _read(conversation):
        if turn.role is Role.USER or (turn.role is Role.ASSISTANT and is_named(turn)):
            yield utterance(turn)


def by_anyone(conversation: Conversation) -> Iterator[Utterance]:
    """Yield what the user and the assistant said; tools and system prompts are no speakers."""
    for turn in _read(conversation):
        yield utterance(turn)


def unread(conversation: Conversation) -> Sequence[Rejected]:
    """Return what is longer than rules read, turn by turn."""
    return [
        Rejected(
            reason=f"longer than rules read: {read} of {len(turn.content)} characters of turn "
            f"{turn.turn_seq} were read",
            raw=turn.content[read : read + _MAX_EXCERPT],
        )
        for turn, read in _bounds(conversation)
        if read < len(turn.content)
    ]


def _read(conversation: Conversation) -> Iterator[Turn]:
    for turn, read in _bounds(conversation):
        if read:
            yield replace(turn, content=turn.content[:read])


def _bounds(conversation: Conversation) -> Iterator[tuple[Turn, int]]:
    """Yield the turns of people, and how many characters of each are read."""
    room = MAX_READ_OF_CONVERSATION
    for turn in conversation.turns:
        if turn.role in _PEOPLE and not turn.only_quotes_memory:
            said = _without_ballast(turn)
            read = _whole_sentences(said.content, min(MAX_READ_OF_TURN, room))
            room -= read
            yield said, read


def _without_ballast(turn: Turn) -> Turn:
    """Let injected context take no room of what was said."""
    if len(turn.content) <= MAX_READ_OF_TURN:
        return turn
    return replace(turn, content=cleaning.without_injected(turn.content))


def _whole_sentences(content: str, limit: int) -> int:
    """Return where reading ends: half a sentence may say the opposite of the whole."""
    if len(content) <= limit:
        return len(content)
    ends = [match.end() for match in _END.finditer(content, 0, limit)]
    return ends[-1] if ends else 0


def is_named(turn: Turn) -> bool:
    """Whether the source names a person as the speaker."""
    return turn.speaker != turn.role.value


def utterance(turn: Turn) -> Utterance:
    """Return a turn as sentences."""
    text = cleaning.spoken(without_header(turn.content))
    spoken_in = language.guess(text)
    if spoken_in == "en":
        text = cleaning.with_apostrophes(text)
    return Utterance(
        turn=turn,
        subject=turn.speaker.strip() if is_named(turn) else USER,
        language=spoken_in,
        said_at=said_at(turn),
        sentences=sentences.split(text),
    )
