"""Words of the speaker's own world, where somebody says what they mean."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_server.domain.candidate import Candidate, Conversation
from memory_server.domain.memory import Term
from memory_server.providers.extraction.rules import guards
from memory_server.providers.extraction.rules.pattern import slug
from memory_server.providers.extraction.rules.reading import Utterance, by_people, is_named

GENERAL = "general"
"""The domain of a term when nothing names one."""
_DOMAIN = (
    r"(?:(?:at|in|within|inside|for|en|dentro de) (?P<domain>(?:our|my|the|nuestr[oa]|mi|el"
    r"|la) [\w ]{2,30}?"
    r"|[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)*),? )?"
)
_TERM = (
    r"(?:an? |the |una? |el |la )?(?P<term>[\"“«'][^\"”»'\n]{1,60}[\"”»']"
    r"|(?:an? |the |una? |el |la )?[\w&/+.-]+(?: [\w&/+.-]+){0,2}?)"
)
_DEFINITION = r"(?P<definition>\S.*)$"
_OUR_WORD = (
    r"(?:our|the|my|an internal|nuestr[oa]|el|la) (?:own |internal )?(?:word|term|name"
    r"|code ?name|nickname"
    r"|acronym|abbreviation|shorthand|jargon|palabra|término|nombre|sigla|abreviatura)"
)
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"^{_DOMAIN}(?:by|with) {_TERM},? (?:we|I) mean {_DEFINITION}",
        rf"^{_DOMAIN}when (?:we|I) say {_TERM},? (?:we|I) mean {_DEFINITION}",
        rf"^{_DOMAIN}{_TERM} (?:is|are|es) {_OUR_WORD} (?:for|para) {_DEFINITION}",
        rf"^{_DOMAIN}{_TERM} is what we call {_DEFINITION}",
        rf"^{_DOMAIN}{_TERM} (?:stands for|is short for|is an abbreviation (?:for|of)"
        rf"|is an acronym for|son las siglas de|es la abreviatura de) {_DEFINITION}",
        rf"^{_DOMAIN}(?:por) {_TERM},? (?:entendemos|queremos decir) {_DEFINITION}",
        rf"^{_DOMAIN}(?:les? )?(?:llamamos|decimos) {_TERM} a {_DEFINITION}",
        rf"^{_DOMAIN}(?:an? |the |una? |el |la )?"
        r"(?P<term>[\"“«][^\"”»\n]{1,60}[\"”»]) (?:is|are|es|son) "
        r"(?P<definition>(?:an? |the |any |every |when |una? |el |la |cualquier |cuando )\S.*)$",
        rf"^{_DOMAIN}{_TERM} (?:means|refers to|denotes|significa|quiere decir) {_DEFINITION}",
    )
)
_LOCAL = re.compile(
    r"^(?:[Aa]t|[Ii]n|[Ww]ithin|[Ii]nside|[Ee]n) "
    r"(?P<domain>(?:our|my|nuestr[oa]|mi) [\w ]{2,30}?|[A-Z][\w&.-]*),? "
    rf"{_TERM} (?:is|are|es) "
    r"(?P<definition>(?:an? |the |any |every |all |when |where |una? |el |la )\S.*)$"
)
_NO_TERM = re.compile(
    r"^(?:this|that|it|which|what|he|she|they|we|i|you|there|these|those|everything|family|home"
    r"|one|here|so|who|all|and|but|if|eso|esto|ello|que|lo|nada|todo|\w+ing)\b",
    re.IGNORECASE,
)
_NO_DEFINITION = re.compile(
    r"^(?:a lot|so much|everything|nothing|more|much|the world|well|that\b|it\b|business\b|mucho"
    r"|todo)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:so|and|also|note that|fyi|by the way|remember(?: that)?|please remember(?: that)?"
    r"|just so you know|recuerda que|por cierto|oh|well|ojo|mira|oye|bueno|pues)[,:]? )+",
    re.IGNORECASE,
)


def extract(conversation: Conversation) -> list[Candidate]:
    """Return the terms that were defined; terms that a definition uses are its relatives."""
    found = [
        Candidate(body=term, turn_ids=(utterance.turn.id,))
        for utterance in by_people(conversation)
        if not guards.is_override(utterance.turn.content)
        for sentence in utterance.sentences
        if (term := _term(sentence, utterance)) is not None
    ]
    terms = [candidate.body for candidate in found if isinstance(candidate.body, Term)]
    return [replace(candidate, body=_related(candidate, terms)) for candidate in found]


def _term(sentence: str, utterance: Utterance) -> Term | None:
    plain = _LEAD.sub("", sentence.strip()).rstrip(".!")
    if guards.is_question(sentence) or guards.is_joke(sentence):
        return None
    for match in _matches(plain):
        term, definition = _tidy(match["term"]), match["definition"].strip(' "“”«»')
        if _is_fit(match["term"], term, definition, utterance):
            return Term(domain=_domain(match["domain"]), term=term, definition=definition)
    return None


def _matches(plain: str) -> Iterator[re.Match[str]]:
    for form in (*_FORMS, _LOCAL):
        match = form.match(plain)
        if match is not None:
            yield match


def _is_fit(written: str, term: str, definition: str, utterance: Utterance) -> bool:
    if not term or _NO_TERM.match(term) or _NO_DEFINITION.match(definition):
        return False
    is_marked = written[0] in "\"“«'" or (term.isupper() and len(term) > 1)
    return len(definition.split()) > 1 and (is_marked or not is_named(utterance.turn))


def _domain(words: str | None) -> str:
    return slug(re.sub(r"^(?:our|my|the|nuestr[oa]|mi|el|la) ", "", words or "")) or GENERAL


def _tidy(term: str) -> str:
    return re.sub(
        r"^(?:an?|the|una?|el|la) (?=\w)", "", term.strip(" \"“”«»'"), flags=re.IGNORECASE
    )


def _related(candidate: Candidate, terms: Sequence[Term]) -> Term:
    body = candidate.body
    assert isinstance(body, Term)
    used = (
        other.term
        for other in terms
        if other.term != body.term
        and re.search(rf"\b{re.escape(other.term)}\b", body.definition, re.IGNORECASE)
    )
    return replace(body, related_terms=tuple(dict.fromkeys(used)))
