"""Lasting statements in the first person, as facts with claims."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.dates import resolve
from memory_server.domain.memory import Claim, Fact
from memory_server.providers.extraction.rules import (
    clauses,
    corrections,
    grammar,
    guards,
    mentions,
    requests,
)
from memory_server.providers.extraction.rules.earnest import Meant, in_earnest
from memory_server.providers.extraction.rules.findings import Finding, find
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import USER, Utterance
from memory_server.providers.extraction.rules.rulebook import Rulebook, rulebook

_AHEAD = ("plan", "deadline", "appointment", "wedding")
"""Attributes of what is to come."""
_EVERY_YEAR = ("birthday", "anniversary", "cumpleaños", "cumple", "aniversario", "santo")
_SCHEDULED = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Tt]he|[Mm]i|[Nn]uestr[oa]|[Ll]a|[Ee]l) [^,]{2,40}? (?:is (?:on|in|due)"
    r"|starts|begins|ends|expires|leaves|arrives|opens|closes|es el|empieza|termina|sale|llega"
    r"|caduca|vence|abre)\b"
)
"""The present of a timetable, which tells what is to come."""


def extract(conversation: Conversation) -> list[Candidate]:
    """Return the facts of a conversation, in the order in which they were said."""
    return facts_in(in_earnest(conversation))


def facts_in(meant: Iterable[Meant]) -> list[Candidate]:
    """Return the facts of what people mean, in the order in which they were said."""
    found: list[Candidate] = []
    spoken_of: dict[str, str | None] = {}
    for utterance, sentences in meant:
        book = rulebook(utterance.language)
        about = spoken_of.get(utterance.subject)
        for sentence in sentences:
            found.extend(_of_sentence(sentence, utterance, found, about))
            about = mentions.mentioned(sentence, book) or about
        spoken_of[utterance.subject] = about
    return found


def _of_sentence(
    sentence: str, utterance: Utterance, known: Sequence[Candidate], about: str | None
) -> Iterator[Candidate]:
    book = rulebook(utterance.language)
    corrected = corrections.correct(sentence, utterance, known, book)
    if corrected is not None:
        yield corrected
        return
    if requests.takes_last_back(sentence, book):
        yield from _taken_back(utterance, known)
        return
    for finding in _findings(sentence, book, about):
        candidate = corrections.of_another_value(_candidate(finding, utterance), sentence)
        if _is_worth_keeping(finding, candidate, utterance):
            yield candidate


def _taken_back(utterance: Utterance, known: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield what takes back all that the speaker said in the turn of their last claim."""
    mine = [c for c in known if c.claim and c.claim.subject == utterance.subject]
    last = mine[-1].turn_ids if mine else ()
    for candidate in mine:
        if candidate.turn_ids == last and not candidate.retracts:
            yield replace(candidate, retracts=True, turn_ids=(utterance.turn.id,))


def _is_worth_keeping(finding: Finding, candidate: Candidate, utterance: Utterance) -> bool:
    if finding.to_assistant and utterance.subject != USER:
        return False
    moment = candidate.event_time
    if not finding.dated:
        return True
    return bool(moment and utterance.said_at and moment.start <= utterance.said_at)


def _findings(sentence: str, book: Rulebook, about: str | None) -> Iterator[Finding]:
    """Yield the claims of a sentence; `about` is whom a pronoun in it means."""
    requested = requests.read(sentence, book)
    if requested is not None:
        yield from requested
        return
    told = book.told.match(sentence)
    if told:
        sentence = sentence[told.end() :].rstrip("? ")
    if guards.is_question(sentence) and not book.question_tail.search(sentence):
        return
    before = ""
    for clause in clauses.split(sentence, book):
        if guards.is_meant(clause) and not guards.governs(before):
            told_of = mentions.resolved(clause, about, book)
            yield from find(told_of, book, sentence="" if before else sentence)
        about = mentions.mentioned(clause, book) or about
        before = clause


def _candidate(finding: Finding, utterance: Utterance) -> Candidate:
    subject = utterance.subject
    claim = Claim(
        subject=subject,
        attribute=finding.attribute,
        value=finding.value,
        exclusive=finding.exclusive,
    )
    return Candidate(
        body=Fact(
            label=label_of(claim),
            text=grammar.third_person(finding.words, subject, utterance.language),
        ),
        turn_ids=(utterance.turn.id,),
        claim=claim,
        event_time=resolve(finding.words, utterance.said_at, told_in=_told_in(finding)),
        retracts=finding.retracts,
    )


def _told_in(finding: Finding) -> str | None:
    """Return words whose tense tells when a plan is to be, in place of a present that does not."""
    is_ahead = finding.attribute.startswith(_AHEAD) or _SCHEDULED.search(finding.words)
    return "will" if is_ahead and not finding.attribute.endswith(_EVERY_YEAR) else None


def label_of(claim: Claim) -> str:
    """Return the snake_case name of a claim: what can differ among equals is part of it."""
    label = claim.attribute
    if not claim.exclusive:
        label = f"{label}_{slug(claim.value, words=4)}"
    return label if claim.subject == USER else f"{slug(claim.subject)}_{label}"
