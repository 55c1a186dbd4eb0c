"""`Remember that ...` and `forget that ...`: what the speaker asks memory itself to do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_server.domain.claims import ALL
from memory_server.providers.extraction.rules import clauses, guards
from memory_server.providers.extraction.rules.findings import Finding, find
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.rulebook import Rulebook

NOTE = "note"
"""The attribute of what is to be remembered but fits no pattern."""
_ASKS_POLITELY = re.compile(r"(?:please )?(?:can|could) you|puedes|podrías", re.IGNORECASE)
_STATES = re.compile(
    r"(?:\b(?:is|are|was|were|am|has|have|needs?|must|should|always|never|don't|can't|likes?"
    r"|prefers?|wants?|es|son|está|tiene|tengo|soy|necesita|siempre|nunca)\b|'s\b|'m\b|'re\b|\d)",
    re.IGNORECASE,
)


def takes_last_back(sentence: str, book: Rulebook) -> bool:
    """Whether the speaker asks to forget what they said just now, as by `Delete that`."""
    return bool(book.forget_last.search(clauses.trimmed(sentence.rstrip("?!. "), book)))


def read(sentence: str, book: Rulebook) -> Sequence[Finding] | None:
    """Return what is to be kept or taken back, or None when the sentence is no such request."""
    plain = clauses.trimmed(sentence.rstrip("?"), book)
    forget = book.forget.search(plain)
    if forget is not None:
        return list(_taken_back(forget, book))
    remember = book.remember.search(plain)
    is_asked = guards.is_question(sentence) and not _ASKS_POLITELY.match(plain)
    if remember is None or is_asked:
        return None
    return list(_noted(remember["clause"], book, is_marked=":" in remember.group().split(" ")[0]))


def _noted(clause: str, book: Rulebook, *, is_marked: bool) -> Iterator[Finding]:
    for part in clauses.split(clause, book):
        if not guards.is_meant(part):
            continue
        found = find(part, book)
        yield from found
        if not found and (is_marked or _STATES.search(part)):
            yield Finding(attribute=NOTE, value=part, words=part, to_assistant=True)


def _taken_back(match: re.Match[str], book: Rulebook) -> Iterator[Finding]:
    groups = match.groupdict()
    if groups["matter"]:
        for matter in book.matters_break.split(groups["matter"]):
            for attribute, value in attributes_of(matter, book):
                yield Finding(
                    attribute=attribute, value=value, words=matter, exclusive=True, retracts=True
                )
        return
    clause = clauses.trimmed(groups["clause"] or groups["clause2"] or "", book)
    found = find(clause, book) or [Finding(attribute=NOTE, value=clause, words=clause)]
    for finding in found:
        yield replace(finding, retracts=True)


def attributes_of(matter: str, book: Rulebook) -> Sequence[tuple[str, str]]:
    """Return under which attributes a matter (`my job`, `where I live`) may be known.

    With the value `all` an attribute is a kind of which every one is meant.
    """
    for known in book.matters:
        match = known.say.search(matter)
        if match is not None:
            named = {name: slug(text or "") for name, text in match.groupdict().items()}
            attributes = dict.fromkeys(each.format(**named) for each in known.attributes)
            return tuple((attribute, ALL if known.all else "") for attribute in attributes)
    return ()
