"""Which remembered sentence speaks to a question, by words alone."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_STOP = frozenset(
    "a am an and are as at be been but by can could did do does for from had has have how i i'm "
    "in is it its me my of on or our out she so that the their them they this to us was we were "
    "what what's when where which who whom whose why will with would you your user user's tell "
    "about know remember any please usually always often many much there he his her said de el la "
    "los las un una y en que es mi me se por para con qué dónde cuándo cómo quién cuál cuáles su "
    "lo al del usuario".split()
)
_RELATED = (
    ("job", "work", "workplace", "employer", "occupation", "profession"),
    ("live", "home", "residence", "move", "city", "based"),
    ("airport", "fly", "depart"),
    ("name", "call"),
    ("pet", "dog", "cat"),
    ("like", "love", "enjoy", "prefer", "favourite", "favorite"),
    ("dislike", "hate"),
    ("born", "birthday", "age", "old"),
    ("allergic", "allergy", "allergie"),
    ("eat", "diet", "food", "vegetarian", "vegan"),
    ("vivir", "vivo", "vive", "casa"),
    ("trabajo", "trabaja", "trabajar"),
)
_GROUP = {word: group[0] for group in _RELATED for word in group}


ENOUGH = 0.5
"""The share of the question's telling words above which a sentence speaks to it."""


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence and how much of the question it covers, 0 to 1."""

    sentence: str
    cover: float


def best(question: str, texts: Iterable[str], *, limit: int = 3) -> Sequence[Match]:
    """Return the sentences that cover most of the question's words, the best first.

    Texts come best first too; of two equal sentences the earlier text's wins. Sentences that
    cover less than the best one, or not more than half of the question, are left out.
    """
    wanted = telling_words(question)
    if not wanted:
        return ()
    found: dict[str, float] = {}
    for text in texts:
        for sentence in _sentences(text):
            cover = len(wanted & telling_words(sentence)) / len(wanted)
            if cover > ENOUGH:
                found.setdefault(sentence, cover)
    ranked = sorted(found.items(), key=lambda item: -item[1])[:limit]
    return [Match(sentence, cover) for sentence, cover in ranked if cover == ranked[0][1]]


def telling_words(text: str) -> frozenset[str]:
    """Return the words that carry meaning, reduced to a common form."""
    words = _WORD.findall(text.casefold().replace("\u2019", "'"))
    return frozenset(_common_form(word) for word in words if word not in _STOP)


def _common_form(word: str) -> str:
    word = re.sub(r"'s$", "", word)
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 - len(instead):
            word = word.removesuffix(ending) + instead
            break
    stem = re.sub(r"(?<=[^\W\d_]{3})e$", "", word)
    return _GROUP.get(word) or _GROUP.get(stem) or _GROUP.get(stem + "e") or stem


def _sentences(text: str) -> list[str]:
    parts = re.split(
        r"\n+|(?<=[.!?])(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)\s+(?=[\"'¿¡A-Z0-9ÁÉÍÓÚÑ])", text
    )
    return [part.strip() for part in parts if part.strip()]
