"""What else a question's words are called, by the terms of a glossary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_server.domain.memory import Term
from memory_server.domain.words import QUESTION_WORDS, matching_terms, plain

WEIGHT = 0.5
"""What a find by another name counts against one by the words of the question."""
MOST_NAMES = 16
"""Other names that one question is looked for by."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A term that a question names, and its other names."""

    said: frozenset[str]
    """Words of the question that name it, in their plain forms."""
    names: Sequence[str]
    """What else it is called: each is looked for as a phrase."""


def expansion(query: str, term: Term) -> Expansion | None:
    """Return what else a term is called, if the question names it or what is related to it.

    Names are whole words in their order; a plural is the same name. Names that a question is
    made of (`IT`, `who`) name nothing.
    """
    asked = f" {plain(query)} "
    names = dict.fromkeys(name for name in (term.term, *term.related_terms) if _tells(name))
    said = [name for name in names if f" {plain(name)} " in asked]
    others = [name for name in names if name not in said]
    if not said or not others:
        return None
    return Expansion(frozenset(word for name in said for word in plain(name).split()), others)


def phrases(expansions: Iterable[Expansion]) -> list[str]:
    """Return the other names to look for, each once."""
    return list(dict.fromkeys(name for one in expansions for name in one.names))[:MOST_NAMES]


def answered(terms: Sequence[str], text: str, expansions: Iterable[Expansion]) -> frozenset[str]:
    """Return those terms of a question that a text holds, under one name or another."""
    held = f" {plain(text)} "
    named = {
        word
        for one in expansions
        if any(f" {plain(name)} " in held for name in one.names)
        for word in one.said
    }
    otherwise = (term for term in terms if named and named.issuperset(plain(term).split()))
    return matching_terms(terms, text) | frozenset(otherwise)


def _tells(name: str) -> bool:
    words = name.lower().split()
    return bool(plain(name)) and any(word not in QUESTION_WORDS for word in words)
