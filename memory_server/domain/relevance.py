"""How much of an answer an utterance holds, beyond the words and meaning of the question.

A search by words and meaning finds what *speaks of* the matter: the question that another speaker
asked, "That is great, tell me more!", and the one turn that says it. What tells them apart is read
from the utterances themselves:

- the best find of the same session: what was said around the point is nearer to it;
- who spoke: a question about Ana ("What does Ana play?", "What do I play?") is answered by Ana;
- how much is told rather than asked: a short reply and a question tell little;
- a time that is told, where the question asks for one;
- how late it was told, where the question asks how things are with the asker: of what speaks of it,
  the later holds.

The weights were fitted to evidence recall on conversations with known evidence, by session and
question, each conversation judged by the others; what each part is worth is measured in
`benchmarks/README.md`.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from memory_server.domain.ranking import Legs, Ranked
from memory_server.domain.utterance import Utterance

CANDIDATES = 200
"""How many of the best finds are looked at; the evidence is among them in 98 of 100 cases."""


MOST_TOLD = 150
"""Words beyond which more of them tell no more."""
_READ = 4000
"""Characters of a text that are looked at: more than `MOST_TOLD` words in any script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What each part of a score counts; `words` and `meaning` are 0 to 1."""

    words: float = 0.52
    meaning: float = 0.40
    session: float = 0.42
    """Of the best meaning in the same session."""
    asked: float = 0.15
    """Where the speaker is the one who is asked about, by name."""
    asked_role: float = 0.45
    """The same where speakers have no names: what the assistant says tells nothing of the user."""
    told: float = 0.035
    """For each factor of e of the words that are told rather than asked."""
    asking: float = 0.05
    """Taken away where all of it is questions."""
    time: float = 0.11
    """Where a time is told and asked for."""
    age: float = 0.15
    """Share of its score that the oldest of the first `LATEST_OF` loses, where the present of the
    asker is asked for."""

    def reachable(self, asked: float) -> float:
        """Return what a find has that has everything: scores are shares of it."""
        told = self.told * math.log1p(MOST_TOLD)
        return self.words + self.meaning + self.session + asked + told + self.time


PARTS = Parts()
ENOUGH = 0.15
"""Of words and meaning together: below it, the other parts count only in proportion."""

_END = ".!?\u3002\uff01\uff1f"
_SENTENCE = re.compile(rf"[^{_END}\n]+[{_END}]*")
_ASKED = ("?", "\uff1f")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2}")
"""Two characters of a script without spaces are taken for a word."""

_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|how old|what (?:date|day|month|year|time)|which (?:date|day|month|year)"
    r"|cu[aá]ndo|cu[aá]nto tiempo|desde cu[aá]ndo|qu[eé] (?:fecha|d[ií]a|mes|a[nñ]o))\b",
    re.IGNORECASE,
)
_TIMES = frozenset(
    """
    yesterday today tonight tomorrow last next ago week weeks weekend weekends month months year
    years since recently just
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    ayer hoy mañana anoche pasado pasada pasados pasadas próximo próxima próximos próximas hace
    semana semanas mes meses año años desde recién
    lunes martes miércoles jueves viernes sábado domingo
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    """.split()
)
_YEAR = re.compile(r"\b\d{4}\b")
LATEST_OF = 10
"""Among how many of the best finds the later count more."""
_ASKS_STATE = re.compile(
    r"^\W*(?:(?:and|so|but|hey|hi|please|tell me|remind me|do you (?:know|remember))\W+)*(?:"
    r"(?:(?:on|in|at|to|by|with|for|from|of|under) )?(?:what|which|where|who|whom|whose|how)\b"
    r"[^?]*?\b(?:is|are|am|do|does|have|has|can)\b"
    r"|(?:what|where|who|how)['\u2019](?:s|re)\b|(?:is|are|am|do|does)\b"
    r"|(?:qu[eé]|cu[aá]l(?:es)?|d[oó]nde|qui[eé]n(?:es)?|c[oó]mo|cu[aá]nt[oa]s?|en qu[eé]|de qu[eé]"
    r"|con qu[eé]|a qu[eé])\b)",
    re.IGNORECASE,
)
_ASKS_PAST = re.compile(
    r"\b(?:did|was|were|had|used to|been|first|originally|initially|before|ago|yesterday|last"
    r"|previous(?:ly)?|former(?:ly)?|once|ever|when|since|happened|in (?:19|20)\d\d"
    r"|ha(?:ve|s) (?:i|we|my|our|you|he|she|they)"
    r"|fu[ei]\w*|era\w*|estaba\w*|estuv\w*|ten[ií]a\w*|tuv\w*|hice|hizo|hac[ií]a|he|ha|hemos|han"
    r"|antes|hace|ayer|anterior\w*|primer\w*|cu[aá]ndo|desde|alguna vez"
    r"|\w+(?:ó|aste|iste|ábamos))\b",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(
    r"\b(?:i|my|me|mine|myself|yo|mi|mis|m[ií][oa]s?|tengo|soy|estoy|vivo|uso|llevo)\b",
    re.IGNORECASE,
)
_SAYING = r"(?:told?|tell|said|say|gave|give|recommend|suggest|mention|list|propose|advis)"
_OF_THE_ASSISTANT = re.compile(
    rf"\b(?:you (?:\w+ )?{_SAYING}\w*|(?:did|had) you {_SAYING}\w*"
    r"|your (?:\w+ )?(?:advice|list|suggestions?|recommendations?|answer|reply)"
    r"|(?:me|nos) (?:dijiste|diste|recomendaste|sugeriste|propusiste|aconsejaste))\b",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\b(?:both|together|in common|amb[oa]s|l[oa]s dos|junt[oa]s|en com[uú]n)\b", re.IGNORECASE
)
_JOINED = r"\s*(?:,|and|&|\by\b|\be\b)\s*"


def by_evidence(
    query: str, said: Sequence[Utterance], legs: Legs, *, parts: Parts = PARTS
) -> list[Ranked]:
    """Return utterances by how much of the query's answer they hold, 0 to 1, the best first."""
    words, meaning = legs.words, legs.meaning
    session_best: dict[str, float] = {}
    for one in said:
        near = meaning.get(one.id, 0.0)
        session_best[one.session] = max(session_best.get(one.session, 0.0), near)
    asked = asked_about(query, {one.speaker: one.role for one in said})
    is_by_role = any(one.speaker in asked and one.speaker == one.role for one in said)
    bonus = parts.asked_role if is_by_role else parts.asked
    wants_time = _ASKS_WHEN.search(query) is not None
    reachable = parts.reachable(bonus)
    scores = {}
    for one in said:
        found = parts.words * words.get(one.id, 0.0) + parts.meaning * meaning.get(one.id, 0.0)
        says = bonus if one.speaker in asked else 0.0
        says += _tells(parts, telling_of(one.text[:_READ]), wants_time=wants_time)
        share = min(found / ENOUGH, 1.0)
        score = found + share * (parts.session * session_best[one.session] + says)
        scores[one.id] = max(score, 0.0) / reachable
    ranked = _in_order(scores)
    if not asks_how_things_are(query):
        return ranked
    said_at = {one.id: one.said_at for one in said}
    return later_first(ranked[:LATEST_OF], ranked[LATEST_OF:], said_at, share=parts.age)


def later_first(
    first: Sequence[Ranked],
    rest: Sequence[Ranked],
    said_at: Mapping[str, datetime],
    *,
    share: float = PARTS.age,
) -> list[Ranked]:
    """Return the first finds by score less age, none of them worth less than the rest.

    The latest keeps its score, the earliest loses `share` of it.
    """
    moments = {one.id: said_at[one.id].timestamp() for one in first}
    newest = max(moments.values(), default=0.0)
    span = newest - min(moments.values(), default=0.0) or 1.0
    least = rest[0].score if rest else 0.0
    aged = {one.id: one.score * (1 - share * (newest - moments[one.id]) / span) for one in first}
    return [*(Ranked(one.id, max(one.score, least)) for one in _in_order(aged)), *rest]


def asks_how_things_are(query: str) -> bool:
    """Return whether a question is about a state of the asker's that holds now."""
    return (
        _OF_THE_USER.search(query) is not None
        and _ASKS_STATE.search(query) is not None
        and _ASKS_PAST.search(query) is None
    )


def asked_about(query: str, speakers: Mapping[str, str]) -> frozenset[str]:
    """Return which of these speakers, given with their roles, a question is about.

    Whoever it names: by the whole name or its first part. Of several, the first one, whom the
    sentence is mostly about; none if they are asked about together. A question that names nobody
    is about the user where it says "I" or "my", and about the assistant where it says what "you"
    told.
    """
    folded = _folded(query)
    places = sorted(
        (place, name)
        for name, role in speakers.items()
        if name != role and (place := _place(name, folded)) is not None
    )
    if len(places) > 1 and _are_joined(folded, [name for _, name in places]):
        return frozenset()
    if places:
        return frozenset({places[0][1]})
    role = _role_asked(query)
    return frozenset(name for name, own in speakers.items() if own == role)


@dataclass(frozen=True, slots=True)
class Telling:
    """What a text tells, whatever is asked."""

    words: int
    """How many words are told."""
    asking: float
    """Which share of its characters is questions."""
    when: bool
    """Whether it names a time."""


@lru_cache(maxsize=4096)
def telling_of(text: str) -> Telling:
    """Return what a text tells; the same texts are looked at in search after search."""
    told, asking, length = 0, 0, 0
    for sentence in _SENTENCE.findall(text):
        said = sentence.strip()
        length += len(said)
        if said.endswith(_ASKED):
            asking += len(said)
        else:
            told += _words(said)
    return Telling(told, asking / length if length else 0.0, _tells_when(text))


def _words(said: str) -> int:
    return len(said.split() if said.isascii() else _WORD.findall(_UNSPACED.sub(" x ", said)))


def _tells_when(text: str) -> bool:
    return not _TIMES.isdisjoint(_WORD.findall(text.lower())) or _YEAR.search(text) is not None


def _in_order(scores: Mapping[str, float]) -> list[Ranked]:
    order = sorted(scores.items(), key=lambda one: (-one[1], one[0]))
    return [Ranked(name, score) for name, score in order]


def _tells(parts: Parts, telling: Telling, *, wants_time: bool) -> float:
    says = parts.told * math.log1p(min(telling.words, MOST_TOLD)) - parts.asking * telling.asking
    return says + parts.time if wants_time and telling.when else says


def _role_asked(query: str) -> str | None:
    if _OF_THE_ASSISTANT.search(query):
        return "assistant"
    return "user" if _OF_THE_USER.search(query) else None


def _place(name: str, folded_query: str) -> int | None:
    """Return where a query names somebody; None: nowhere."""
    whole = _folded(name).strip()
    for form in dict.fromkeys((whole, *whole.split()[:1])):
        found = re.search(rf"\b{re.escape(form)}\b", folded_query) if len(form) > 1 else None
        if found is not None:
            return found.start()
    return None


def _are_joined(folded_query: str, names: Iterable[str]) -> bool:
    if _TOGETHER.search(folded_query):
        return True
    forms = [re.escape(_folded(name).split()[0]) for name in names]
    any_of = "|".join(forms)
    return re.search(rf"\b(?:{any_of}){_JOINED}(?:{any_of})\b", folded_query) is not None


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))
