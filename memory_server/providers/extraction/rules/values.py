"""Telling what a thing is from what somebody thinks of it, or how it is just now."""

import re

from memory_server.providers.extraction.rules.rulebook import Rulebook

_FIXED = re.compile(r"[\"'“«(+#@$€£¥]?\d|[$€£¥@#]|https?:|www\.|[\w.+-]+@\w|[\"“«]?[A-ZÀ-Þ]")
_WORD = re.compile(r"[\w'-]+")
_HEAD = 4
"""How many words from the beginning tell a judgement."""


def is_judged(value: str, book: Rulebook) -> bool:
    """Whether a value begins with what somebody thinks or feels about a thing."""
    words = [word.casefold() for word in _WORD.findall(value)][:3]
    return bool(book.lists["judged"].intersection(words)) or bool(book.idioms.search(value))


def is_remote(thing: str, book: Rulebook) -> bool:
    """Whether a thing is a person whom the speaker knows by another: `neighbour's cousin`."""
    owner, _, owned = thing.rpartition("'s ")
    return bool(owner) and owned in book.lists["people"]


def is_solid(value: str, book: Rulebook) -> bool:
    """Whether a value is a name, a number, a thing, a place or a lasting quality."""
    words = [word.casefold() for word in _WORD.findall(value)]
    if not words or book.idioms.search(value):
        return False
    judged = book.lists["judged"]
    first = words[0]
    if _FIXED.match(value):
        return first not in judged
    if first in judged or first.endswith(("ing", "ndo")):
        return False
    if first in book.lists["determiners"]:
        return len(words) > 1 and not judged.intersection(words[1:_HEAD])
    if first in book.lists["prepositions"]:
        return len(words) > 1 and words[1] not in judged
    return first in book.lists["settled"]
