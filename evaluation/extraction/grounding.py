"""What of a memory nobody said: numbers, names and content words that stand in no turn.

Tolerated are the third person, words without content (`function_words.yaml`), inflection (words
that begin alike and end otherwise), numbers in words, and the dates of the memory's event time.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from evaluation.extraction.labels import Case
from evaluation.extraction.places import located
from evaluation.extraction.records import StoredMemory
from evaluation.extraction.wording import is_cjk, words_of

_FILE: Final = Path(__file__).parent / "function_words.yaml"
_SHORTEST: Final = 3
"""Letters of a content word, and of a beginning that two forms of a word have in common."""
_LONGEST_ENDING: Final = 4
_CAPITALISED_NOUNS: Final = "de"
"""The language in which a capital letter makes no name."""
_SENTENCE_END: Final = re.compile(r"[.!?:;\"'“”«»¿¡(]\s*$")


@dataclass(frozen=True, slots=True)
class _Known:
    words: frozenset[str]
    months: Sequence[frozenset[str]]
    numbers: Mapping[str, str]
    """Digits by the word for them."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """All words of a case's turns."""

    language: str
    said: frozenset[str]

    @classmethod
    def of(cls, case: Case) -> Self:
        """Return what the turns say, with the names of who spoke and the years of their dates."""
        texts = [turn.text for turn in case.turns]
        texts += [turn.name for turn in case.turns if turn.name]
        texts += [str(moment.year) for moment in case.dates]
        said = {_plain(word) for text in texts for word in words_of(text)}
        numbers = _known().numbers
        said |= {numbers[word] for word in said if word in numbers}
        said |= {digits for word in said for digits in re.findall(r"\d+", word)}
        return cls(language=case.language, said=frozenset(said))

    def strange_in(self, memory: StoredMemory) -> Sequence[tuple[str, str]]:
        """Return what of a memory nobody said, each as its kind and the word."""
        dates = frozenset(_dates(memory))
        return [
            (kind, word)
            for kind, word in self._kinds(memory.text)
            if not self._is_borne(kind, _plain(word), dates)
        ]

    def _kinds(self, text: str) -> Iterator[tuple[str, str]]:
        place = 0
        composed = unicodedata.normalize("NFC", text)
        for word in words_of(text):
            place = composed.index(word, place)
            before = composed[:place]
            place += len(word)
            if any(character.isdigit() for character in word):
                yield "number", word
            elif word[0].isupper() and self.language != _CAPITALISED_NOUNS:
                is_first = not before.strip() or _SENTENCE_END.search(before) is not None
                yield "word" if is_first else "name", word
            else:
                yield "word", word

    def _is_borne(self, kind: str, word: str, dates: frozenset[str]) -> bool:
        known = _known()
        if word in self.said or word in known.words or word in dates:
            return True
        if kind == "number":
            digits = re.findall(r"\d+", word)
            return all(part in self.said or part.lstrip("0") in self.said for part in digits)
        if known.numbers.get(word) in self.said:
            return True
        if kind == "name":
            return word.removesuffix("s") in self.said
        if is_cjk(word):
            return False
        return len(word) < _SHORTEST or any(_are_forms(word, said) for said in self.said)


def _are_forms(one: str, other: str) -> bool:
    """Whether two words begin alike and differ in no more than an ending."""
    alike = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        alike += 1
    longest = max(len(one), len(other))
    return alike >= _SHORTEST and longest - alike <= _LONGEST_ENDING and alike * 2 >= longest


def _dates(memory: StoredMemory) -> Iterator[str]:
    """Yield how the days on which a memory's event began and ended may be written."""
    if memory.start is None or memory.end is None:
        return
    for moment in (memory.start, memory.end - timedelta(microseconds=1), memory.end):
        for part in (moment.day, moment.month, moment.year, moment.hour, moment.minute):
            yield str(part)
            yield f"{part:02}"
        yield from _known().months[moment.month - 1]


def _plain(word: str) -> str:
    """Return a word without case and accents."""
    parts = unicodedata.normalize("NFD", word.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


@cache
def _known() -> _Known:
    document: Mapping[str, Any] = located(_FILE.read_text(encoding="utf-8")).value
    return _Known(
        words=frozenset(_split([*document["words"], *document["irregular"]])),
        months=[frozenset(map(_plain, names)) for names in document["months"]],
        numbers={
            _plain(word): digits for digits, words in document["numbers"].items() for word in words
        },
    )


def _split(lines: Iterable[str]) -> Iterator[str]:
    return (_plain(word) for line in lines for word in line.split())
