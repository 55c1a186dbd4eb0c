"""Lasting statements in the first person, as facts with claims."""

from collections.abc import Iterator

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.dates import resolve
from memory_server.domain.memory import Claim, Fact
from memory_server.providers.extraction.rules import clauses, grammar_en, guards, patterns_en
from memory_server.providers.extraction.rules.pattern import Pattern, slug
from memory_server.providers.extraction.rules.reading import USER, Utterance, by_people

_PATTERNS = {"en": patterns_en.PATTERNS}


def extract(conversation: Conversation) -> list[Candidate]:
    """Return the facts of a conversation, in the order in which they were said."""
    return [candidate for utterance in by_people(conversation) for candidate in _of_turn(utterance)]


def _of_turn(utterance: Utterance) -> Iterator[Candidate]:
    if guards.is_override(utterance.turn.content):
        return
    for position, sentence in enumerate(utterance.sentences):
        following = "".join(utterance.sentences[position + 1 : position + 2])
        if guards.is_joke(sentence) or guards.is_joke(following) or guards.is_task(sentence):
            continue
        if not guards.is_question(sentence):
            yield from _of_sentence(sentence, utterance)


def _of_sentence(sentence: str, utterance: Utterance) -> Iterator[Candidate]:
    for clause in clauses.split(sentence, utterance.language):
        if guards.is_meant(clause):
            yield from _of_clause(clause, utterance)


def _of_clause(clause: str, utterance: Utterance) -> Iterator[Candidate]:
    core = clauses.without_lead_in(clause)
    for pattern in _PATTERNS.get(utterance.language, ()):
        match = pattern.expression.search(core)
        if match is None or (guards.is_passing(clause) and not pattern.passing):
            continue
        value = match["value"].strip()
        if pattern.accepts is None or pattern.accepts(value):
            yield _candidate(clause, pattern, value, utterance)
            return


def _candidate(clause: str, pattern: Pattern, value: str, utterance: Utterance) -> Candidate:
    subject = utterance.subject
    label = (
        pattern.attribute if pattern.exclusive else f"{pattern.attribute}_{slug(value, words=4)}"
    )
    named = label if subject == USER else f"{slug(subject)}_{label}"
    text = grammar_en.third_person(clause, "The user" if subject == USER else subject)
    return Candidate(
        body=Fact(label=named, text=text),
        turn_ids=(utterance.turn.id,),
        claim=Claim(
            subject=subject,
            attribute=pattern.attribute,
            value=value,
            exclusive=pattern.exclusive,
        ),
        event_time=resolve(clause, utterance.said_at),
        retracts=pattern.retracts,
    )
