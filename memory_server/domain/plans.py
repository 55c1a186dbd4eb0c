"""Plans, and what tells that one came true."""

import re

from memory_server.domain.calendar import MONTHS, UNITS, WEEKDAYS
from memory_server.domain.candidate import Candidate
from memory_server.domain.claims import NO, matter_of
from memory_server.domain.memory import Claim, Fact, Memory
from memory_server.domain.wording import stem, tokens

PLAN = "plan"
"""The attribute under which plans are mostly known."""
_PLAN = re.compile(r"^(?:plan|plans|planned|planning|intends?|goal|upcoming)(?: |$)")
_MOVING = ("mov", "relocat", "mud", "traslad")
_LEFT_OUT = frozenset(
    """
    to on in at by for next this the a an my our with from until before after around early late
    soon again probably mid end year month week weekend summer winter spring autumn fall
    en el la los las un una mi a de con próximo próxima que viene este esta me antes
    """.split()
).union(MONTHS, WEEKDAYS, UNITS)
"""What a plan's words tell about its time, or only join the others."""
_IRREGULAR = {
    "went": "go", "gone": "go", "been": "go", "got": "get", "gotten": "get", "bought": "buy",
    "took": "take", "taken": "take", "ran": "run", "began": "begin", "became": "become",
    "sold": "sell", "left": "leave", "found": "find", "flew": "fly", "wrote": "write",
    "built": "build", "taught": "teach", "had": "have", "saw": "see", "met": "meet",
    "fui": "ir", "fuimos": "ir", "hice": "hacer", "tuve": "tener",
}  # fmt: skip


def is_plan(claim: Claim | None) -> bool:
    """Whether a claim is about something that is to happen."""
    return claim is not None and bool(_PLAN.match(" ".join(matter_of(claim).attribute)))


def tells_it_happened(candidate: Candidate, known: Memory) -> bool:
    """Whether a fact says that what a known plan is about took place.

    The fact has to name all that the plan names beside its time, with a form of its verb; that
    somebody lives at the place they meant to move to says so too.
    """
    fact, plan = candidate.claim, known.claim
    if fact is None or plan is None or not is_plan(plan) or not isinstance(candidate.body, Fact):
        return False
    told, planned = matter_of(fact), matter_of(plan)
    if told.subject != planned.subject or told.value == NO:
        return False
    verb, things = _parts(plan.value if plan.value not in ("yes", "true") else plan.attribute)
    words = tokens(candidate.body.text)
    named = {stem(word) for word in words}
    if not things or not things <= named:
        return False
    if told.attribute == ("residence",) and verb.startswith(_MOVING):
        return True
    return any(_is_form_of(word, verb) for word in words)


def _parts(words: str) -> tuple[str, frozenset[str]]:
    """Return a plan's verb and the stems of all else that it names."""
    named = [
        word
        for word in tokens(words.replace("_", " "))
        if word not in _LEFT_OUT and not word.isdigit() and not _PLAN.match(word)
    ]
    verb, *things = named or [""]
    return _IRREGULAR.get(verb, verb), frozenset(map(stem, things))


def _is_form_of(word: str, verb: str) -> bool:
    one = _IRREGULAR.get(word, word)
    if one == verb:
        return True
    shared = 0
    for mine, other in zip(one, verb, strict=False):
        if mine != other:
            break
        shared += 1
    return shared >= max(3, min(len(one), len(verb)) - 2)
