"""Which remembered sentence speaks to a question, by words alone, in English and Spanish."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_STOP = frozenset(
    "a am an and are as at be been but by can could did do does for from had has have how i i'm "
    "in is it its me my of on or our out she so that the their them they this to us was we were "
    "what what's when where which who whom whose why will with would you your user user's tell "
    "about know remember any please usually always often many much there he his her said now "
    "currently again forget delete erase remove "
    "de el la los las un una unos unas y e o a en que es mi mis tu tus me te se le por para con "
    "qué dónde cuándo cómo quién quiénes cuál cuáles cuánto cuánta cuántos cuántas donde cuando "
    "como quien cual cuales cuantos cuantas su sus lo al del usuario soy eres era fui fue "
    "tengo tienes tiene tenemos tener hay ahora actualmente ya hoy siempre normalmente desde yo "
    "dime recuerda recuérdame sabes acuerdas favor estoy estás está dijo olvida olvídate borra "
    "elimina come comes alguna alguno algún algunas algunos".split()
)
_RELATED = (
    "work job workplace employer occupation profession trabajo trabaja trabajas trabajar "
    "trabajando empleo profesion dedico dedica dedicas trabajaba trabajabas trabaje trabajaste "
    "dedicaba dedicabas",
    "live home residence move city based address vivo vives vive vivir viviendo casa resido reside "
    "ciudad mudo mude direccion vivia vivias vivi viviste vivio residia residias",
    "airport fly flew depart volaba volabas vuelo vuelas vuela volar aeropuerto",
    "name call llamo llamas llama llaman llamaba llamabas nombre",
    "like love enjoy prefer favourite favorite gusta gustan gustar encanta encantan prefiero "
    "prefieres prefiere favorito favorita gustaba gustaban encantaba encantaban preferia preferias",
    "dislike hate odio odias odia odiaba odiabas",
    "born birthday age old naci nacio naciste cumpleanos",
    "allergic allergy allergie alergia alergico alergica",
    "eat ate diet food vegetarian vegan comer dieta comia comias",
    "speak spoke language hablo hablas habla hablar hablaba hablabas idioma",
    "smoke fumo fumas fuma fumar fumaba fumabas",
    "drink drank bebo bebes bebe beber tomo tomas toma bebia bebias tomaba tomabas",
    "study estudio estudias estudia estudiar estudiaba estudiabas",
    "ano edad",
    "go went gone",
    "buy bought",
    "meet met",
    "take took taken",
    "see saw seen",
    "drive drove drives",
)
_GROUP = {word: group[0] for group in map(str.split, _RELATED) for word in group}
_KINDS = {
    "pet": frozenset(("dog", "cat", "perr", "gat", "mascot", "rabbit", "parrot")),
    "mascot": frozenset(("dog", "cat", "perr", "gat", "pet", "conej", "lor")),
}
"""Words that hold for others too: who asks about pets is answered with a dog, not vice versa."""
_TURNS = tuple(
    (re.compile(words), token)
    for words, token in (
        (r"\bwhere (?:am|are|is|'s) [^\W\d]\w*(?: originally)? from\b", "from"),
        (r"\bwhere do(?:es)? \w+ come from\b", "from"),
        (r"\b(?:is|am|comes?|came) (?:originally )?from\b", "from"),
        (r"\bde d[oó]nde (?:soy|eres|es)\b|\b(?:es|soy) de \S", "from"),
        (r"\bwho am i\b|\bqui[eé]n soy\b", "name"),
    )
)
"""Turns of phrase that tell something though each of their words tells nothing."""
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
        for sentence in sentences(text):
            cover = len(wanted & _held(sentence)) / len(wanted)
            if cover > ENOUGH:
                found.setdefault(sentence, cover)
    ranked = sorted(found.items(), key=lambda item: -item[1])[:limit]
    return [Match(sentence, cover) for sentence, cover in ranked if cover == ranked[0][1]]


def telling_words(text: str) -> frozenset[str]:
    """Return the words that carry meaning, reduced to a common form."""
    folded = text.casefold().replace("\u2019", "'").replace("home airport", "airport")
    words = (_common_form(word) for word in _WORD.findall(folded) if word not in _STOP)
    turns = (token for turn, token in _TURNS if turn.search(folded))
    return frozenset((*words, *turns))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that is shown, line by line."""
    parts = re.split(
        r"\n+|(?<=[.!?])(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)\s+(?=[\"'¿¡A-Z0-9ÁÉÍÓÚÑ])", text
    )
    return [part.strip() for part in parts if part.strip()]


def _held(sentence: str) -> frozenset[str]:
    words = telling_words(sentence)
    return words.union(kind for kind, members in _KINDS.items() if members & words)


def _common_form(word: str) -> str:
    word = _without_accents(re.sub(r"'s$", "", word))
    if word in _GROUP:
        return _GROUP[word]
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 - len(instead):
            word = word.removesuffix(ending) + instead
            break
    stem = re.sub(r"(?<=[^\W\d_]{3})[eoa]$", "", word)
    return _GROUP.get(word) or _GROUP.get(stem) or _GROUP.get(stem + "e") or stem


def _without_accents(word: str) -> str:
    """Return the word as it is often typed: `alergico` for `alérgico`."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))
