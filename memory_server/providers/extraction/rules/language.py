"""Telling English from Spanish by small words."""

import re
from collections.abc import Sequence
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
    if spanish == english == 0:
        return "es" if _looks_spanish(words) else "en"
    return "es" if spanish > english else "en"


def _looks_spanish(words: Sequence[str]) -> bool:
    """Whether words that are on no list mostly end as Spanish ones do."""
    endings = sum(word.endswith(("o", "a", "os", "as", "ar", "ir", "ción")) for word in words)
    return len(words) > 1 and 2 * endings >= len(words) and words[0].endswith("o")


@cache
def _spanish() -> frozenset[str]:
    book = rulebook("es")
    return book.lists["small_words"].union(*(verb.split()[-1:] for verb in book.grammar["verbs"]))
