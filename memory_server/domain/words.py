"""Words as the text index knows them, and the words of a question that are worth a search."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from memory_server.domain.calendar import in_words
from memory_server.domain.turn import NewTurn

_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)
"""Runs of Chinese, Japanese and Korean script, in which spaces do not mark the words."""

_TERM = re.compile(r"\w+(?:[-_./:@+&]\w+)*")
"""A word, or an identifier with its inner punctuation: ERR-4021, current.md, GB/s."""

_PART = re.compile(r"[^\W_]+")

_PLURAL = re.compile(r"(?<=[sxz])es$|(?<=[cs]h)es$|(?<=[a-z][a-rt-z])s$")
"""The end of a plural, as English and Spanish mostly write it."""

_CLITIC = re.compile(
    r"\b(?:can|won|shan)['\u2019]t\b|(?<=\w)(?:n['\u2019]t|['\u2019](?:s|d|m|re|ve|ll))\b",
    re.IGNORECASE,
)
"""What English hangs on a word: Ana's, what's, didn't."""

QUESTION_WORDS = frozenset(
    """
    what when where who whom whose which why how
    do does did is are was were be been am has have had
    can could will would should shall may might
    a an the of to in on at for and or
    i you he she it we they me my your his her its our their
    that this these those there
    que quien quienes cual cuales cuando donde adonde como cuanto cuanta cuantos cuantas por
    es son era eran fue fueron esta estan estaba ha han habia hay hizo hace
    el la los las un una unos unas de del al en y o
    lo le les su sus mi mis tu tus se
    """.split()
)
"""Words that a question is made of rather than about, without accents: English and Spanish."""


ANSWERED = 400
"""Characters of the turn before that are embedded with a turn."""


def index_text(text: str) -> str:
    """Return a text as it goes into the index: compatibility forms folded, CJK in pieces.

    A run of Chinese, Japanese or Korean becomes its pairs of characters and its characters.
    """
    folded = unicodedata.normalize("NFKC", text).replace("\0", " ")
    return _UNSPACED.sub(lambda run: f" {' '.join(_pieces(run[0]))} ", folded)


def query_terms(query: str) -> list[str]:
    """Return the terms to look for, each once: plain tokens, never syntax.

    Question words are left out unless nothing else is asked, and so is what hangs on a word. An
    identifier comes whole (the index matches it as a phrase) and in its parts.
    """
    folded = unicodedata.normalize("NFKC", query)
    terms = list(dict.fromkeys(_terms(_CLITIC.sub("", folded))))
    telling = [term for term in terms if _bare(term) not in QUESTION_WORDS]
    return telling or list(dict.fromkeys((*terms, *_terms(folded))))


def turn_text(turn: NewTurn) -> str:
    """Return what the index knows of a turn: its date if known, who spoke, and what was said."""
    said = f"{turn.speaker}: {turn.content}"
    if turn.event_time is None:
        return said
    return f"{in_words(turn.event_time)} {said}"


def embedding_text(turn: NewTurn, before: NewTurn | None = None) -> str:
    """Return what of a turn is embedded: who spoke, what was said, and what it answers.

    An answer like "Yes, three" means little without the turn before it: without its end, where the
    question stands, for a long one would outweigh the answer and cost more than it.
    """
    said = f"{turn.speaker}: {turn.content}"
    return said if before is None else f"{before.speaker}: {_end(before.content)}\n{said}"


def _end(text: str) -> str:
    """Return what a text ends with, from the beginning of a word."""
    if len(text) <= ANSWERED:
        return text
    cut = text[-ANSWERED:]
    return cut.partition(" ")[2] or cut


def _pieces(run: str) -> list[str]:
    pairs = [run[start : start + 2] for start in range(len(run) - 1)]
    return [*pairs, *run]


def _terms(text: str) -> Iterator[str]:
    start = 0
    for run in _UNSPACED.finditer(text):
        yield from _spaced_terms(text[start : run.start()])
        pieces = _pieces(run[0])[: max(1, len(run[0]) - 1)]
        yield from (piece for piece in pieces if piece.isalnum())
        start = run.end()
    yield from _spaced_terms(text[start:])


def _spaced_terms(text: str) -> Iterator[str]:
    for found in _TERM.finditer(text):
        term = found[0].lower()
        parts = _PART.findall(term)
        if len(parts) == 1:
            yield parts[0]
        elif parts:
            yield term
            yield from (part for part in parts if len(part) > 1)


def _bare(term: str) -> str:
    """Return a term without accents."""
    decomposed = unicodedata.normalize("NFD", term)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def matching_terms(terms: Iterable[str], text: str) -> frozenset[str]:
    """Return those terms that a text holds in some form of the word.

    An approximation of what the index's stemmer does: words of at least four letters match
    when they differ in their last letters only (`fly` and `flies` do not; `moving`, `moved` do).
    """
    folded = _CLITIC.sub("", unicodedata.normalize("NFKC", text))
    held = {_bare(word) for word in _terms(folded)}
    stems = {_stem(word) for word in held}
    return frozenset(term for term in terms if _bare(term) in held or _stem(_bare(term)) in stems)


def plain(text: str) -> str:
    """Return a text's words without plurals and accents, joined by spaces: to find names in it."""
    parts = _PART.findall(unicodedata.normalize("NFKC", text).lower())
    return " ".join(_PLURAL.sub("", _bare(part)) for part in parts)


def _stem(word: str) -> str:
    """Cut the commonest endings of English and Spanish."""
    for ending in ("ing", "ed", "es", "s", "er", "ly", "os", "as", "ar", "ir"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word
