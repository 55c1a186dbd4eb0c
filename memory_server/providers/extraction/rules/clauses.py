"""Cutting sentences into clauses that can be read on their own."""

import re
from collections.abc import Iterator

from memory_server.providers.extraction.rules.rulebook import Rulebook

_OTHER_SUBJECT = re.compile(
    r"\b(?:you|he|she|they|it|how|who|that|which|when"
    r"|(?:want|hope|plan|need|going|like|love|decided|try|trying|hate|used|able|have) to)\b"
)
"""What may be the subject, or the governor, of the verb after `and` in place of `I`."""


_AND_I = re.compile(r"^(?:[Mm]y [\w' -]{2,30}|[A-ZÀ-Þ]\w+) and I are(?=\s)")
_RELATIVE = re.compile(r"\b(?:which|who|that|if|cual|que)\b", re.IGNORECASE)
"""What tells more of the thing before, so that it says nothing without it."""
_LAYERS = 4
"""Of lead-ins before a statement: `Oh, by the way, one thing to know: ...`."""
_WRAPPED = re.compile(r"^\((?P<said>[^()]+)\)[.!]?$")


def split(sentence: str, book: Rulebook) -> Iterator[str]:
    """Yield the clauses of a sentence, without openers (`Well,`) and closing marks.

    What is said in brackets comes after the sentence that it stands in.
    """
    statement = book.question_tail.sub("", sentence) if sentence.endswith("?") else sentence
    statement = unwrapped(statement)
    for said in (book.aside.sub("", statement), *book.aside.findall(statement)):
        for part in _parts(trimmed(said, book), book):
            clause = trimmed(part, book)
            while clause:
                clause, following = _without_second_verb(clause, book)
                yield clause
                clause = following


def unwrapped(statement: str) -> str:
    """Return what is said without brackets around the whole of it."""
    wrapped = _WRAPPED.match(statement)
    return wrapped["said"] if wrapped else statement


def _parts(statement: str, book: Rulebook) -> Iterator[str]:
    """Yield what lies between breaks, an adverbial together with its statement."""
    start = 0
    for found in book.breaks.finditer(statement):
        if not book.lead_in.fullmatch(statement[start : found.end()]):
            yield from _without_chatter(statement[start : found.start()], book)
            start = found.end()
    yield from _without_chatter(statement[start:], book)


def _without_chatter(part: str, book: Rulebook) -> Iterator[str]:
    """Yield a statement, and apart from it what is said on and on after it."""
    for found in book.chatter.finditer(part):
        if found.start() and book.complete.search(part[: found.start()]):
            yield part[: found.start()]
            if not _RELATIVE.search(found.group()):
                yield from _without_chatter(part[found.end() :], book)
            return
    yield part


def trimmed(text: str, book: Rulebook) -> str:
    """Return the text without openers and closers, and without punctuation at its end."""
    plain = text.strip()
    for _ in range(_LAYERS):
        before, plain = plain, book.openers.sub("", book.prelude.sub("", plain)).strip()
        if plain == before:
            break
    plain = book.closers.sub("", plain)
    plain = re.sub(r"(?<!\b[A-Z])(?<!\betc)(?<!\b[ap]\.m)[.!…,;:]+$", "", plain).strip()
    plain = re.sub(r"^(?:im|Im)(?= )", "I'm", re.sub(r"^(?:ive|Ive)(?= )", "I've", plain))
    plain = re.sub(r"(?:^|(?<=\s))i(?=$|\s|')", "I", plain)
    return _AND_I.sub("we are", plain)


def _without_second_verb(clause: str, book: Rulebook) -> tuple[str, str]:
    """Cut `I live in X and work at Y` in two, each with its subject."""
    match = book.shared.search(clause)
    if match is None or _OTHER_SUBJECT.search(clause[: match.start("cut")]):
        return clause, ""
    return clause[: match.start("cut")], f"{match['subject']} {clause[match.end('cut') :]}"
