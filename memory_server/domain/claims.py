"""Claims in one form, so that the same matter and value are known in other words or languages.

What is compared here is never shown: a claim keeps the spelling it came with.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.memory import Claim
from memory_server.domain.twins import TWINS
from memory_server.domain.wording import tokens

YES, NO = "yes", "no"
_POLAR = {
    "yes": YES, "true": YES, "y": YES, "si": YES, "sí": YES, "verdadero": YES,
    "no": NO, "false": NO, "n": NO, "falso": NO,
}  # fmt: skip
_ARTICLES = frozenset("the a an el la los las un una unos unas al my mi".split())
_PLURAL = re.compile(r"(?<=[^s][sxz])es$|(?<=[cs]h)es$|(?<=[a-z]{2}[a-rt-z])s$")
_WHOLE = {
    ("employer",): "workplace",
    ("works", "at"): "workplace",
    ("works", "for"): "workplace",
    ("place", "of", "work"): "workplace",
    ("current", "employer"): "workplace",
    ("home", "city"): "residence",
    ("city", "of", "residence"): "residence",
    ("current", "residence"): "residence",
    ("place", "of", "residence"): "residence",
    ("lives", "in"): "residence",
    ("occupation",): "job",
    ("profession",): "job",
    ("job", "title"): "job",
    ("date", "of", "birth"): "birthday",
    ("birth", "date"): "birthday",
    ("birthdate",): "birthday",
    ("email", "address"): "email",
    ("e", "mail"): "email",
    ("phone",): "phone number",
    ("telephone",): "phone number",
    ("smokes",): "smokes",
    ("smoker",): "smokes",
    ("is", "smoker"): "smokes",
    ("smoking",): "smokes",
    ("spouse", "name"): "spouse",
}
_HEADS: Sequence[tuple[tuple[str, ...], tuple[str, ...], bool]] = (
    (("dislikes",), ("likes",), True),
    (("hates",), ("likes",), True),
    (("loves",), ("likes",), False),
    (("enjoys",), ("likes",), False),
    (("adores",), ("likes",), False),
    (("likes", "eating"), ("likes",), False),
    (("is", "allergic", "to"), ("allergic", "to"), False),
    (("allergy", "to"), ("allergic", "to"), False),
    (("allergy",), ("allergic", "to"), False),
    (("does", "not"), (), True),
    (("not",), (), True),
)
"""Beginnings of attributes, what they count as, and whether yes and no change places."""
KINDS = frozenset(
    tuple(words.split())
    for words in (
        "allergic to",
        "likes",
        "eats",
        "drinks",
        "plays",
        "speaks",
        "uses",
        "owns",
        "learning",
        "takes",
        "prefers",
        "afraid of",
        "favourite",
        "number of",
    )
)
"""Beginnings that many attributes share: what stands after one is the thing itself."""
ALL = "all"
"""The value of a retraction that means every attribute of a kind."""


_NAMES = frozenset(("name", "surname", "nickname"))
"""What is spelled as its bearer spells it: an accent is a correction."""


@dataclass(frozen=True, slots=True)
class Matter:
    """What a claim is about, and what it says of it, in the one form."""

    subject: str
    attribute: tuple[str, ...]
    value: str

    def is_same_topic(self, other: "Matter") -> bool:
        """Whether both are about one attribute of one subject."""
        return (self.subject, self.attribute) == (other.subject, other.attribute)

    @property
    def is_kind(self) -> bool:
        """Whether the attribute names a kind of things rather than one of them."""
        return self.attribute in KINDS

    def covers(self, other: "Matter") -> bool:
        """Whether the other is about one thing of this kind."""
        head = other.attribute[: len(self.attribute)]
        return self.is_kind and self.subject == other.subject and head == self.attribute


def matter_of(claim: Claim) -> Matter:
    """Return what a claim is about in the one form."""
    attribute, flips = _attribute(claim)
    value = _value(claim.value, spelled=attribute[-1] in _NAMES)
    if flips and value in (YES, NO):
        value = NO if value == YES else YES
    return Matter(subject=" ".join(tokens(claim.subject)), attribute=attribute, value=value)


def _attribute(claim: Claim) -> tuple[tuple[str, ...], bool]:
    words = tuple(word for token in tokens(claim.attribute) for word in token.split("_") if word)
    flips = False
    if _value(claim.value) in (YES, NO, ""):
        words, flips = _headed(words)
    whole = _WHOLE.get(words)
    if whole is not None:
        return tuple(whole.split()), flips
    head, *rest = words or ("",)
    named = [word for word in rest if word not in _ARTICLES]
    first = TWINS.get(head, head) if named else _counted_as(head)
    return (first, *map(_counted_as, named)), flips


def _headed(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    if len(words) > 1 and words[-1] == "allergy":
        return ("allergic", "to", *words[:-1]), False
    for head, counted_as, flips in _HEADS:
        if words[: len(head)] == head and len(words) > len(head):
            return (*counted_as, *words[len(head) :]), flips
    return words, False


def _value(value: str, *, spelled: bool = False) -> str:
    words = tokens(value)
    if len(words) == 1 and words[0] in _POLAR:
        return _POLAR[words[0]]
    while len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words if spelled else map(_counted_as, words)) or " ".join(value.split())


def _counted_as(word: str) -> str:
    """Return the word in the singular, without accents, in English where it is known."""
    bare = "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )
    for form in (bare, _PLURAL.sub("", bare), bare.removesuffix("es"), bare.removesuffix("s")):
        if form in TWINS:
            return TWINS[form]
    return _PLURAL.sub("", bare)
