"""`No, I meant Tuesday`: a new value for what was just said."""

import re
from collections.abc import Sequence
from dataclasses import replace

from memory_server.domain.calendar import MONTHS, WEEKDAYS, any_of
from memory_server.domain.candidate import Candidate
from memory_server.domain.dates import resolve
from memory_server.domain.memory import Claim, Fact
from memory_server.providers.extraction.rules.reading import Utterance
from memory_server.providers.extraction.rules.rulebook import Rulebook

_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_KINDS = (
    re.compile(
        rf"\b(?:{any_of(MONTHS)} {_DAY}|{_DAY}(?: of| de)? {any_of(MONTHS)})\b", re.IGNORECASE
    ),
    re.compile(rf"\b{any_of(WEEKDAYS, at_least=4)}\b", re.IGNORECASE),
    re.compile(rf"\b{any_of(MONTHS)}\b", re.IGNORECASE),
    re.compile(r"\b\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\b\.?)?", re.IGNORECASE),
)
_NAME = re.compile(r"[A-ZÀ-Þ][\w'-]+(?: [A-ZÀ-Þ][\w'-]+)*")
_DENIED = re.compile(rf", (?:and |y )?(?:not|no) (?P<name>{_NAME.pattern})[.!…\s]*$")


def correct(
    sentence: str, utterance: Utterance, known: Sequence[Candidate], book: Rulebook
) -> Candidate | None:
    """Return the speaker's last claim with its value corrected, or None."""
    match = book.meant.search(sentence.strip().rstrip(".!"))
    if match is None:
        return None
    last = next(
        (c for c in reversed(known) if c.claim and c.claim.subject == utterance.subject), None
    )
    if last is None or last.claim is None or not isinstance(last.body, Fact):
        return None
    said = match["value"] or match["value2"]
    old = _replaced_part(last.claim, said, match["old"] or match["old2"])
    if old is None or old not in last.body.text:
        return None
    return _changed(last, last.claim, last.body, (old, said), utterance)


def of_another_value(candidate: Candidate, sentence: str) -> Candidate:
    """Return a candidate as what corrects the value that its sentence denies: "Rex, not Max"."""
    denied = _DENIED.search(sentence)
    claim = candidate.claim
    if denied is None or claim is None or claim.exclusive or not _NAME.fullmatch(claim.value):
        return candidate
    return replace(candidate, corrects=replace(claim, value=denied["name"]))


def _replaced_part(claim: Claim, said: str, old: str | None) -> str | None:
    """Return the part of the former value that the new words take the place of."""
    if old is not None:
        return old if old in claim.value else None
    for kind in _KINDS:
        former = kind.search(claim.value)
        if kind.search(said):
            return former.group() if former else None
    is_name = _NAME.fullmatch(claim.value) and _NAME.fullmatch(said)
    return claim.value if claim.exclusive or is_name else None


def _changed(
    last: Candidate, claim: Claim, fact: Fact, change: tuple[str, str], utterance: Utterance
) -> Candidate:
    text = fact.text.replace(*change)
    return replace(
        last,
        body=replace(fact, text=text),
        claim=replace(claim, value=claim.value.replace(*change)),
        corrects=claim,
        turn_ids=tuple(dict.fromkeys((*last.turn_ids, utterance.turn.id))),
        event_time=resolve(text, utterance.said_at),
    )
