"""Telling English from Spanish by small words."""

import re
from functools import cache

from memory_server.providers.extraction.rules.rulebook import rulebook

_WORD = re.compile(r"[^\W\d_]+")
_MARKS = re.compile(r"[¿¡ñáéíóú]")


def guess(text: str) -> str:
    """Return `es` or `en`, the likelier of the two; `en` when nothing tells."""
    folded = text.casefold()
    words = _WORD.findall(folded)
    spanish = sum(word in _spanish() for word in words) + bool(_MARKS.search(folded))
    english = sum(word in rulebook("en").lists["small_words"] for word in words)
    return "es" if spanish > english else "en"


@cache
def _spanish() -> frozenset[str]:
    book = rulebook("es")
    return book.lists["small_words"].union(*(verb.split()[-1:] for verb in book.grammar["verbs"]))
