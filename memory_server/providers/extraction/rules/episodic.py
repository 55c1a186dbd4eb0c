"""What happened in a conversation: one episode for each snapshot."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memory_server.domain.calendar import in_words
from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.memory import Episode, EventTime
from memory_server.domain.reconciliation import takes_back
from memory_server.domain.turn import Role
from memory_server.domain.withdrawal import tells
from memory_server.providers.extraction.rules import guards, requests, semantic
from memory_server.providers.extraction.rules.acts import SMALL_TALK, Act, act_of
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import Utterance, by_anyone
from memory_server.providers.extraction.rules.rulebook import rulebook

_MAX_CHARACTERS = 1500
_MAX_SENTENCE = 300
_MAX_TITLE = 90
_WORD = re.compile(r"[^\W_]")
_PAST = re.compile(
    r"\b(?:\w{3,}ed|was|were|went|got|took|bought|made|met|saw|had|ran|won|lost|wrote|read|became"
    r"|fui|hice|compré|\w{2,}(?:é|ó|aron|ieron))\b"
)
_NAME = re.compile(r"(?<=[\w,] )(?!I\b|I')[A-ZÁÉÍÓÚÑ][\w'-]+")
_NUMBER = re.compile(r"\d")
_TAG_STOP = frozenset(("user", "assistant"))


@dataclass(frozen=True, slots=True)
class _Line:
    utterance: Utterance
    text: str
    weight: int
    act: Act

    @property
    def shown(self) -> str:
        return f"{_shown_name(self.utterance)}: {self.text}"


def extract(conversation: Conversation) -> list[Candidate]:
    """Return one episode, or nothing when nobody stated anything.

    Questions and what memory was asked to note belong to an episode, but make none. What was
    taken back in the same conversation is not told, nor that it was.
    """
    lines = _without_what_was_taken_back(list(_lines(conversation)), conversation)
    if not any(line.act is Act.STATEMENT for line in lines):
        return []
    kept = _most_telling(lines)
    speakers = tuple(dict.fromkeys(_shown_name(line.utterance) for line in lines))
    moment = _moment(lines)
    body = Episode(
        title=_title(lines),
        content="\n".join((*_header(speakers, moment), *(line.shown for line in kept))),
        summary_text=_summary(kept),
        participants=speakers,
        tags=_tags(kept),
        snapshot_ref_id=conversation.snapshot.id,
        summary_type="rules",
        source_agent=conversation.snapshot.agent_id,
        extraction_source="rules",
    )
    turn_ids = tuple(dict.fromkeys(line.utterance.turn.id for line in lines))
    return [Candidate(body=body, turn_ids=turn_ids, event_time=moment)]


def _lines(conversation: Conversation) -> Iterator[_Line]:
    spoken = [one for one in by_anyone(conversation) if not guards.is_override(one.turn.content)]
    secrets = guards.secrets_in(sentence for one in spoken for sentence in one.sentences)
    for utterance in spoken:
        for sentence in utterance.sentences:
            act = act_of(sentence)
            if not _is_told(sentence, secrets):
                continue
            if _WORD.search(sentence) and act not in SMALL_TALK:
                text = _shortened(sentence, _MAX_SENTENCE)
                yield _Line(utterance, text, _weight(sentence), act)


def _is_told(sentence: str, secrets: frozenset[str]) -> bool:
    return not guards.is_secret(sentence) and not any(secret in sentence for secret in secrets)


def _without_what_was_taken_back(
    lines: Sequence[_Line], conversation: Conversation
) -> Sequence[_Line]:
    if not any(map(_takes_back, lines)):
        return lines
    facts = semantic.extract(conversation)
    withdrawn = [
        fact.body.chunk_text
        for fact in facts
        if not fact.retracts and any(takes_back(other, fact.claim, fact.body) for other in facts)
    ]
    return [
        line
        for line in lines
        if not _takes_back(line) and not any(tells(line.text, one) for one in withdrawn)
    ]


def _takes_back(line: _Line) -> bool:
    book = rulebook(line.utterance.language)
    return line.act is Act.FORGET or requests.takes_last_back(line.text, book)


def _weight(sentence: str) -> int:
    return (
        2 * len(_NAME.findall(sentence))
        + 2 * bool(_NUMBER.search(sentence))
        + 2 * bool(_PAST.search(sentence))
        + bool(re.search(r"\b(?:I|my|we|yo|mi)\b", sentence))
        - 2 * sentence.endswith("?")
    )


def _most_telling(lines: Sequence[_Line]) -> list[_Line]:
    """Keep the lines that say most within the budget, in their order."""
    by_weight = sorted(range(len(lines)), key=lambda index: (-lines[index].weight, index))
    room = _MAX_CHARACTERS
    chosen: set[int] = set()
    for index in by_weight:
        cost = len(lines[index].shown) + 1
        if cost <= room:
            chosen.add(index)
            room -= cost
    return [line for index, line in enumerate(lines) if index in chosen]


def _shown_name(utterance: Utterance) -> str:
    speaker = utterance.turn.speaker.strip()
    return speaker if speaker != utterance.turn.role.value else speaker.capitalize()


def _title(lines: Sequence[_Line]) -> str:
    """Return the first thing that was stated, by the user if possible, and of some length."""
    stated = [line for line in lines if line.act is Act.STATEMENT]
    mine = [line for line in stated if line.utterance.turn.role is Role.USER] or stated
    telling = [line for line in mine if len(line.text.split()) > 2] or mine
    return _shortened(telling[0].text, _MAX_TITLE).rstrip(".")


def _summary(kept: Sequence[_Line]) -> str:
    best = sorted(sorted(range(len(kept)), key=lambda i: (-kept[i].weight, i))[:3])
    return " ".join(kept[index].shown for index in best)


def _tags(kept: Sequence[_Line]) -> tuple[str, ...]:
    names = (slug(name) for line in kept for name in _NAME.findall(line.text))
    return tuple(dict.fromkeys(tag for tag in names if tag not in _TAG_STOP and len(tag) > 2))[:8]


def _moment(lines: Sequence[_Line]) -> EventTime | None:
    times = [line.utterance.said_at for line in lines if line.utterance.said_at]
    if not times:
        return None
    start, end = min(times), max(times)
    return EventTime(start=start, end=end + timedelta(minutes=1), words=in_words(start))


def _header(speakers: Sequence[str], moment: EventTime | None) -> Sequence[str]:
    """Return the line with the day and the speakers; without a day the lines say who spoke."""
    if moment is None:
        return ()
    who = " and ".join((", ".join(speakers[:-1]), speakers[-1]) if speakers[1:] else speakers)
    return (f"{moment.words}, {who}:",)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"
