"""What a question wants, and by which words its answer is looked for."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum

from evaluation.metrics.porter import stem

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001 - it is the apostrophe meant
FUNCTION_WORDS: Set[str] = frozenset(
    "a an the and or but so if then than that this these those there here of in on at to for from "
    "with by about as into onto over under after before during between through up down out off "
    "is are was were am be been being do does did done has have had having will would could can "
    "may might must should shall not no nor yes i you he she it we they me him her us them my your "
    "his its our their mine yours hers ours theirs myself yourself himself herself itself "
    "ourselves themselves what when where who whom whose which why how very really just also too "
    "some any all both each more most much many other such own same only s t d ll ve re m "
    "hey hi wow woah oh yeah yep sure thanks thank well cool great awesome nice glad totally "
    "definitely actually especially like around always finally started want wanted got get getting "
    "let lets plus maybe kinda super pretty lot lots bit thing things way sort kind type "
    "i'm i've i'll i'd it's that's we're we've you're don't didn't isn't wasn't can't".split()
)


class Wanted(Enum):
    """The kind of answer that a question wants."""

    TIME = "time"
    DURATION = "duration"
    COUNT = "count"
    PERSON = "person"
    PLACE = "place"
    REASON = "reason"
    NAME = "name"
    YES_OR_NO = "yes or no"
    THING = "thing"
    THINGS = "things"


_ONESELF, _OTHER = frozenset("i my me mine".split()), frozenset("you your yours".split())
_BEGINNINGS: Sequence[tuple[re.Pattern[str], Wanted]] = [
    (re.compile(pattern, re.IGNORECASE), wanted)
    for pattern, wanted in (
        (r"\bhow (?:long|old)\b", Wanted.DURATION),
        (r"\bhow (?:many|much|often)\b", Wanted.COUNT),
        (
            r"\b(?:when|(?:what|which) (?:day|date|month|year|time|week)"
            r"|what (?:is|was) the date)\b",
            Wanted.TIME,
        ),
        (r"^(?:\W*)(?:who|whom|whose)\b|\b(?:with|by|from|to) whom?\b", Wanted.PERSON),
        (r"\b(?:where|(?:what|which) (?:city|country|state|town|place))\b", Wanted.PLACE),
        (
            r"\b(?:what|which)\b.*?\b(?:name|nickname|called|titled?|brand|company|band|artist|song"
            r"|book|movie|film|game|series|language|author)\b",
            Wanted.NAME,
        ),
        (r"\bwhy\b|\bwhat (?:was|is) the reason\b", Wanted.REASON),
        (
            r"^\W*(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)\b",
            Wanted.YES_OR_NO,
        ),
        (r"\b(?:what|which)(?: \w+)? (?!(?:is|was|does|has)\b)[a-z]{3,}[^s\Ws]s\b", Wanted.THINGS),
    )
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, taken apart."""

    wanted: Wanted
    stems: Set[str]
    """Of its words that mean something, names among them."""
    names: Set[str]
    """Capitalised words that do not begin it, in lower case."""
    is_of_oneself: bool
    """Whether it is about the one who asks, and not about what was answered."""


def take_apart(question: str) -> Asked:
    """Read a question; what it does not say is a thing that is asked for."""
    wanted = next((kind for pattern, kind in _BEGINNINGS if pattern.search(question)), Wanted.THING)
    words = words_of(question)
    lowered = {word.lower() for word in words}
    return Asked(
        wanted=wanted,
        is_of_oneself=bool(lowered & _ONESELF) and not lowered & _OTHER,
        stems=frozenset(map(stem_of, content_words(words))),
        names=frozenset(
            bare(word) for word in words[1:] if word[:1].isupper() and word.lower() != "i"
        ),
    )


def words_of(text: str) -> Sequence[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(text)


def content_words(words: Sequence[str]) -> Sequence[str]:
    """Return the words that mean something by themselves."""
    return [word for word in words if word.lower() not in FUNCTION_WORDS]


def bare(word: str) -> str:
    """Return a word in lower case, without a possessive."""
    return re.sub(r"['’]s?$", "", word.lower())  # noqa: RUF001 - it is the apostrophe meant


def stem_of(word: str) -> str:
    """Return what the forms of a word have in common."""
    return stem(bare(word))


Weights = Mapping[str, float]
