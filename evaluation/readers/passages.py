"""What was found, as sentences, each with how well it fits the question."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from evaluation.readers.asking import Asked, content_words, stem_of, words_of
from evaluation.records import FoundItem

_SPEAKER = re.compile(r"^\s*([A-Z][\w.-]*(?: [A-Z][\w.-]*)?|user|assistant):\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CONTEXT = 0.6
"""What a word counts that the rest of the item says, by one that the sentence says."""
_SPEAKS = 3.0
"""What it counts that the one asked about speaks, or is named."""
_FIRST = 2.0
"""What the first rank counts; the second half of it, and so on."""
_QUESTION = 3.0
"""What it counts against a sentence that it asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of one item."""

    text: str
    speaker: str
    at: datetime | None
    rank: int
    score: float
    shared: int
    """Words of the question that its item says, names left out."""


def sentences_of(found: Sequence[FoundItem], asked: Asked) -> Sequence[Sentence]:
    """Return all sentences, those that fit best first."""
    stems = [frozenset(map(stem_of, content_words(words_of(item.content)))) for item in found]
    frequency = Counter(word for each in stems for word in each)
    weights = {
        word: math.log(1 + len(found) / frequency[word]) for word in asked.stems if frequency[word]
    }
    sentences = [
        sentence
        for rank, item in enumerate(found)
        for sentence in _of_item(item, rank, stems[rank], asked, weights)
    ]
    return sorted(sentences, key=lambda sentence: (-sentence.score, sentence.rank))


def _is_about(asked: Asked, speaker: str, stems: Set[str]) -> bool:
    """Whether the one asked about speaks or is named; who asks of themselves is the user."""
    if asked.names:
        return bool(asked.names & {speaker.lower().split(" ")[0], *stems})
    return not asked.is_of_oneself or speaker != "assistant"


def _of_item(
    item: FoundItem, rank: int, stems: Set[str], asked: Asked, weights: dict[str, float]
) -> Iterator[Sentence]:
    match = _SPEAKER.match(item.content)
    speaker = match[1] if match else ""
    text = item.content[match.end() :] if match else item.content
    names = frozenset(map(stem_of, asked.names))
    around = sum(weights.get(word, 0.0) for word in stems - names)
    is_about = _is_about(asked, speaker, stems)
    shared = len((stems & asked.stems) - names)
    for part in _SENTENCE.split(text):
        own = frozenset(map(stem_of, content_words(words_of(part)))) - names
        said = sum(weights.get(word, 0.0) for word in own)
        score = said + _CONTEXT * (around - said) + _FIRST / (rank + 1)
        score += _SPEAKS * is_about - _QUESTION * part.rstrip().endswith("?")
        if part.strip():
            yield Sentence(
                text=part.strip(),
                speaker=speaker,
                at=item.at,
                rank=rank,
                score=score,
                shared=shared,
            )
