"""What of turns and episodes may be quoted: what people stated, in their own words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.turn import Role, Turn
from memory_server.providers.answering.matching import best, sentences
from memory_server.providers.extraction.rules.acts import Act, act_of

_SPEAKER = re.compile(r"^(?P<who>[^\W\d_][\w .'\u2019-]{0,60}): (?P<text>\S.*)$")
_OWN = frozenset(("user", "usuario"))
_NOT_QUOTED = frozenset(("assistant", "asistente", "tool", "system"))
_REPORTED = re.compile(
    r"^(?:the |el )?(?:assistant|asistente)\b"
    r"|^(?:the )?user (?:asked|wanted to know|wondered)\b|^el usuario preguntó\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"^\W*(?:(?:please|hey|hi|ok|so|and|por favor),? )*(?:tell|remind|list|show|give|recall|find"
    r"|book|plan|suggest|recommend|help|dime|recuérdame|muéstrame|cuéntame|enséñame)\b",
    re.IGNORECASE,
)
_STATING = (Act.STATEMENT, Act.REMEMBER)


@dataclass(frozen=True, slots=True)
class Quote:
    """One sentence that somebody stated."""

    text: str
    is_own: bool
    """Whether the user said it."""
    speaker: str = ""
    """Somebody else's name."""

    @property
    def shown(self) -> str:
        """The sentence with its speaker, unless that is the user or nobody in particular."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What the user asked to forget, and when."""

    text: str
    at: datetime

    def covers(self, text: str, said_at: datetime) -> bool:
        """Whether this is what was to be forgotten, and was not said again since."""
        return said_at <= self.at and bool(best(self.text, (text,)))


def wants_answer(sentence: str) -> bool:
    """Whether the sentence asks, or asks for something to be told or found."""
    act = act_of(sentence)
    return act is Act.QUESTION or (act is Act.STATEMENT and bool(_WANTS.search(sentence)))


def stated(text: str) -> Iterator[str]:
    """Yield the sentences that state something."""
    for sentence in sentences(text):
        if act_of(sentence) in _STATING and not _WANTS.search(sentence):
            yield sentence


def forget_requests(recent: Sequence[Turn]) -> Sequence[ForgetRequest]:
    """Return what the user asked to forget of late."""
    return [
        ForgetRequest(sentence, turn.created_at)
        for turn in recent
        if turn.role is Role.USER
        for sentence in sentences(turn.content)
        if act_of(sentence) is Act.FORGET
    ]


def told_of_late(recent: Sequence[Turn], forgotten: Sequence[ForgetRequest]) -> Iterator[str]:
    """Yield what the user stated of late and did not ask to forget since, the newest first."""
    for turn in reversed(recent):
        if turn.role is Role.USER:
            for sentence in stated(turn.content):
                if not any(each.covers(sentence, turn.created_at) for each in forgotten):
                    yield sentence


def of_episodes(contents: Iterable[str]) -> Iterator[Quote]:
    """Yield what people stated in episodes; never an assistant's words, which came from memory."""
    for content in contents:
        for line in content.splitlines():
            yield from _of_line(line.strip())


def _of_line(line: str) -> Iterator[Quote]:
    match = _SPEAKER.match(line)
    who = match["who"].strip() if match else ""
    text = match["text"] if match else line
    if who.casefold() in _NOT_QUOTED or text.endswith(":") or _REPORTED.match(text):
        return
    is_own = who.casefold() in _OWN
    for sentence in stated(text):
        yield Quote(sentence, is_own, "" if is_own else who)
