"""What tells that something is otherwise now, without naming what: `They moved me to number 12`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_server.domain.candidate import Candidate
from memory_server.domain.dates import resolve
from memory_server.domain.memory import Fact
from memory_server.domain.remarks import may_be_meant
from memory_server.domain.statements import Statement, statements
from memory_server.providers.extraction.rules import clauses, grammar, guards
from memory_server.providers.extraction.rules.earnest import Meant
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import USER, Utterance
from memory_server.providers.extraction.rules.rulebook import rulebook

_MAX_WORDS = 30
_OF_ITS_OWN = re.compile(
    r"^(?:the|this|that|our|an?|el|la|los|las|este|esta|ese|esa|una?) (?:new |nuev[oa]s? )?"
    r"[\w'-]+(?: nuev[oa]s?)? (?:now |ahora )?(?:is|are|has|have|costs?|takes?|leaves|starts|begins"
    r"|es|est[aá]n?|son|tienen?|cuestan?|sale|empieza)\b"
    r"|^(?:my|our|mi|nuestr[oa]) (?:new|nuev[oa])\b",
    re.IGNORECASE,
)
"""A statement about the thing that it begins with."""

_OF_THE_SPEAKER = re.compile(
    r"\b(?:I|my|me|mine|we|our|us|yo|mi|mis|m[ií][oa]|nos|nuestr[oa]s?)\b", re.IGNORECASE
)


def remarks_in(meant: Iterable[Meant], facts: Sequence[Candidate]) -> list[Candidate]:
    """Return the user's remarks on changes whose values none of the facts tells."""
    return [
        remark
        for utterance, sentences in meant
        if utterance.subject == USER
        for sentence in sentences
        for remark in _of_sentence(sentence, utterance, facts)
    ]


def _of_sentence(
    sentence: str, utterance: Utterance, facts: Sequence[Candidate]
) -> Iterator[Candidate]:
    book = rulebook(utterance.language)
    said = clauses.trimmed(clauses.unwrapped(sentence), book)
    if not _is_read(said):
        return
    told = statements(said)
    if len(told) == 1 and _is_remark(told[0]) and not _is_told(told[0], utterance, facts):
        text = grammar.reported(said, utterance.subject, utterance.language)
        yield Candidate(
            body=Fact(label=slug(said, words=4), text=text),
            turn_ids=(utterance.turn.id,),
            event_time=resolve(said, utterance.said_at),
            is_remark=True,
        )


def _is_read(said: str) -> bool:
    if guards.is_question(said) or len(said.split()) > _MAX_WORDS or _OF_ITS_OWN.search(said):
        return False
    return guards.is_meant(said) and not guards.is_passing(said)


def _is_remark(told: Statement) -> bool:
    if told.other is not None or not (told.is_change or _OF_THE_SPEAKER.search(told.text)):
        return False
    return any(may_be_meant(told, value) for value in told.values)


def _is_told(told: Statement, utterance: Utterance, facts: Sequence[Candidate]) -> bool:
    """Whether a fact of the same turn has one of the values."""
    own = [fact.body.chunk_text for fact in facts if utterance.turn.id in fact.turn_ids]
    return any(value.said in text for value in told.values for text in own)
