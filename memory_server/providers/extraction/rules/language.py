"""Telling English from Spanish by small words."""

import re

_WORD = re.compile(r"[^\W\d_]+")
_SPANISH = frozenset(
    "el la los las un una unos unas de del que y en es soy estoy tengo mi mis me se no con por para "
    "pero muy ya yo su al lo le vivo trabajo llamo gusta gustan siempre desde hace nunca como qué "
    "cuando también este esta recuerda quiero prefiero hablo somos tenemos nací alergia a".split()
)
_ENGLISH = frozenset(
    "the a an of and in is am i i'm my me we to for with on at from but not have has live work always "
    "that this it you your was are do don never when also remember want prefer like no".split()
)
_MARKS = re.compile(r"[¿¡ñáéíóú]")


def guess(text: str) -> str:
    """Return `es` or `en`, the likelier of the two; `en` when nothing tells."""
    words = _WORD.findall(text.casefold())
    spanish = sum(word in _SPANISH for word in words) + bool(_MARKS.search(text.casefold()))
    english = sum(word in _ENGLISH for word in words)
    return "es" if spanish > english else "en"
