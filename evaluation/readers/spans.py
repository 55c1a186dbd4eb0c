"""The words of a sentence that answer: a number, a name, a place, a reason, or what is new."""

import re
from collections.abc import Iterator, Sequence

from evaluation.readers.asking import FUNCTION_WORDS, Asked, bare, stem_of, words_of
from evaluation.readers.times import COUNT

_UNIT = r"(?:second|minute|hour|day|week|month|year|decade)s?"
_DURATION = re.compile(
    rf"\b(?:(?:about|around|over|almost|nearly) )?{COUNT} {_UNIT}\b|\bsince (\d{{4}})",
    re.IGNORECASE,
)
_TIMES = re.compile(rf"\b(?:once|twice|thrice|{COUNT} times)\b", re.IGNORECASE)
_NUMBER = re.compile(rf"\b(?:\$?\d[\d,.]*\d|\d|{COUNT})\b", re.IGNORECASE)
_WORD_NUMBERS = re.compile(r"^(?:a|an)$", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
_RELATION = re.compile(
    r"\b(?:my|our|his|her|their) ((?:(?:best|old|close|late|little|older|younger) )?"
    r"(?:mom|mum|mother|dad|father|parents|sister|brother|wife|husband|partner|girlfriend|boyfriend"
    r"|son|daughter|kids|children|aunt|uncle|cousin|grandma|grandmother|grandpa|grandfather"
    r"|friends?|boss|colleagues?|coworkers?|neighbors?|team(?:mates)?|family|coach|teacher))\b"
)
_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|around|visit(?:ed|ing)?|toured)"
    r" ((?:the )?[A-Z][\w'-]+(?:,? (?:of )?[A-Z][\w'-]+)*|(?:the|a|an|my|our|this) [\w' -]{3,30})"
)
_BECAUSE = re.compile(
    r"\b(?:because|since|so that|in order to|due to|as a way to|to)\b (.+)", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:()\"]|\s[-–—]\s|\b(?:but|so|because|which|while|though|and then)\b")  # noqa: RUF001
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]")
_MONTH_OR_DAY = re.compile(
    r"^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
)
_LINKING = frozenset(
    "a an the of and for with in on to at from or by about as my our his her their its".split()
)
_LONGEST = 8
"""Words of an answer that is a run of a sentence."""


def duration_in(text: str) -> str | None:
    """Return how long, as the text says it."""
    match = _DURATION.search(text)
    return match.group() if match else None


def count_in(text: str, asked: Asked) -> str | None:
    """Return how many: times, or the number that stands before what is counted."""
    times = _TIMES.search(text)
    if times:
        return times.group()
    numbers = [match for match in _NUMBER.finditer(text) if not _WORD_NUMBERS.match(match.group())]
    for match in numbers:
        after = words_of(text[match.end() :])[:3]
        if any(stem_of(word) in asked.stems for word in after):
            return match.group()
    return numbers[0].group() if numbers else None


def person_in(text: str, asked: Asked) -> str | None:
    """Return who: a name that the question has not, or somebody by their relation."""
    related = _RELATION.search(text)
    if related:
        return related[1]
    return next(_names(text, asked), None)


def name_in(text: str, asked: Asked) -> str | None:
    """Return what it is called: what is in quotes, or a name that the question has not."""
    return title_in(text, asked) or next(_names(text, asked), None)


def place_in(text: str, asked: Asked) -> str | None:
    """Return where, after a word that places are told with."""
    for match in _PLACE.finditer(text):
        new = [word for word in words_of(match[1]) if stem_of(word) not in asked.stems]
        if new and not _MONTH_OR_DAY.match(match[1]):
            return match[1].strip()
    return None


def reason_in(text: str) -> str | None:
    """Return why, after a word that reasons are told with."""
    match = _BECAUSE.search(text)
    return match[1].strip(" .!") if match else None


def title_in(text: str, asked: Asked) -> str | None:
    """Return what a text puts in quotes, unless the question says it."""
    quoted = (match[1] for match in _QUOTED.finditer(text))
    return next((title for title in quoted if not _is_said(title, asked)), None)


def novel_in(text: str, asked: Asked) -> str | None:
    """Return the run of words that says most that the question does not, next to what it does."""
    best: tuple[float, str] | None = None
    for clause in _CLAUSE.split(text):
        for score, words in _runs(words_of(clause), asked):
            if best is None or score > best[0]:
                best = score, words
    return best[1] if best else None


def _is_said(words: str, asked: Asked) -> bool:
    return all(stem_of(word) in asked.stems for word in words_of(words))


def _runs(words: Sequence[str], asked: Asked) -> Iterator[tuple[float, str]]:
    """Yield runs of new words; linking words stay inside a run, not at its ends."""
    known = [place for place, word in enumerate(words) if stem_of(word) in asked.stems]
    run: list[int] = []
    for place in range(len(words) + 1):
        if place < len(words) and (_is_new(words[place], asked) or _links(words, place, run)):
            run.append(place)
            continue
        yield from _scored(words, run, known)
        run = []


def _scored(
    words: Sequence[str], run: list[int], known: Sequence[int]
) -> Iterator[tuple[float, str]]:
    while run and bare(words[run[-1]]) in _LINKING:
        run.pop()
    if not run:
        return
    new = sum(bare(words[place]) not in _LINKING for place in run)
    near = min((min(abs(run[0] - one), abs(run[-1] - one)) for one in known), default=6)
    after = any(one < run[0] for one in known)
    score = min(new, 4) + 2.0 * len(known) + 0.5 * after - 0.4 * near
    yield score, " ".join(words[place] for place in run[:_LONGEST])


def _is_new(word: str, asked: Asked) -> bool:
    return word.lower() not in FUNCTION_WORDS and stem_of(word) not in asked.stems


def _links(words: Sequence[str], place: int, run: Sequence[int]) -> bool:
    return bool(run) and words[place].lower() in _LINKING


def _names(text: str, asked: Asked) -> Iterator[str]:
    for match in _NAME.finditer(text):
        is_first = match.start() == 0 or text[: match.start()].rstrip()[-1:] in {".", "!", "?"}
        words = [bare(word) for word in words_of(match.group())]
        is_known = any(word in asked.names or word in FUNCTION_WORDS for word in words)
        if not is_known and not is_first and not _MONTH_OR_DAY.match(match.group()):
            yield match.group()
