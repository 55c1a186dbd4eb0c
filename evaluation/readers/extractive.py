"""An answer without a language model: the words found that answer what was asked."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from evaluation.readers import spans
from evaluation.readers.asking import Asked, Wanted, take_apart
from evaluation.readers.passages import Sentence, sentences_of
from evaluation.readers.reader import NOT_MENTIONED, Reader, Reading
from evaluation.readers.times import day_of, times_in
from evaluation.records import FoundItem

VERSION = "3"
"""Of its rules; raised where they answer differently."""
_LOOKED_AT = 6
"""Sentences in which an answer of the wanted kind is looked for, best first."""
_LISTED = 3
"""Answers to a question for several things."""

Pick = Callable[[str, Asked], str | None]
_PICKS: Mapping[Wanted, Pick] = {
    Wanted.DURATION: lambda text, _: spans.duration_in(text),
    Wanted.COUNT: spans.count_in,
    Wanted.PERSON: spans.person_in,
    Wanted.NAME: spans.name_in,
    Wanted.PLACE: spans.place_in,
    Wanted.REASON: lambda text, _: spans.reason_in(text),
}


class ExtractiveReader(Reader):
    """Picks what answers from the items found, by rules that are the same for all data.

    It reasons about nothing: it counts no more than a text counts, and joins nothing but lists.
    """

    @property
    def name(self) -> str:
        return "extractive"

    @property
    def prompt(self) -> str:
        return ""

    @property
    def digest(self) -> str:
        return f"extractive-{VERSION}"

    async def read(
        self, question: str, found: Sequence[FoundItem], *, asked_at: datetime | None
    ) -> Reading:
        return Reading(answer=extract(question, found))

    async def close(self) -> None:
        """Nothing is open."""


def extract(question: str, found: Sequence[FoundItem]) -> str:
    """Return the shortest answer that the rules find, or that nothing was mentioned."""
    asked = take_apart(question)
    sentences = sentences_of(found, asked)
    if not sentences or max(sentence.shared for sentence in sentences) == 0:
        return NOT_MENTIONED
    match asked.wanted:
        case Wanted.TIME:
            return _time(sentences)
        case Wanted.YES_OR_NO:
            return "Yes"
        case Wanted.THINGS:
            return _things(sentences, asked)
    pick = _PICKS.get(asked.wanted)
    if pick is not None:
        for sentence in sentences[:_LOOKED_AT]:
            answer = pick(sentence.text, asked)
            if answer:
                return answer
    return _thing(sentences[0], asked) or sentences[0].text


def _thing(sentence: Sentence, asked: Asked) -> str | None:
    return spans.title_in(sentence.text, asked) or spans.novel_in(sentence.text, asked)


def _time(sentences: Sequence[Sentence]) -> str:
    """Return the time that the best sentence tells, or the day on which it was said."""
    best = sentences[0]
    for sentence in sentences[:_LOOKED_AT]:
        told = sorted(times_in(sentence.text, sentence.at))
        if told and sentence.rank == best.rank:
            return told[0][1]
    return day_of(best.at) if best.at else best.text


def _things(sentences: Sequence[Sentence], asked: Asked) -> str:
    """Return what is new in the best sentence of each of several items."""
    found: dict[str, None] = {}
    ranks: set[int] = set()
    for sentence in sentences:
        answer = _thing(sentence, asked)
        if answer and sentence.shared and sentence.rank not in ranks:
            found[answer] = None
            ranks.add(sentence.rank)
        if len(found) == _LISTED:
            break
    return ", ".join(found) or sentences[0].text
