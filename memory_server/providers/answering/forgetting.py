"""What a request to forget will take back, told only as far as the rules will do it."""

import re
from collections.abc import Sequence

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.claims import ALL, KINDS
from memory_server.domain.wording import tokens
from memory_server.providers.answering.matching import best
from memory_server.providers.extraction.rules import language, requests
from memory_server.providers.extraction.rules.findings import NO, YES, Finding
from memory_server.providers.extraction.rules.rulebook import rulebook

_EVERYTHING = re.compile(
    r"\b(?:everything|all (?:about me|of it|that you know|you know|(?:of )?my (?:data|memories))"
    r"|my (?:whole )?memory|who I am|todo|toda mi|mis datos)\b",
    re.IGNORECASE,
)


def is_everything(request: str) -> bool:
    """Whether all that is known is to be forgotten."""
    return bool(_EVERYTHING.search(request))


def named_facts(request: str, chunks: Sequence[Chunk], told: Sequence[str]) -> Sequence[str]:
    """Return the known facts that the request takes back; none when it names none.

    `told` is what was stated of late, of which no fact may have been made yet.
    """
    read = requests.read(request, rulebook(language.guess(request)))
    findings = [finding for finding in read or () if finding.retracts]
    if not findings:
        return ()
    facts = [chunk for chunk in chunks if chunk.source is Source.SEMANTIC]
    labelled = [chunk for chunk in facts if "label" in chunk.metadata]
    named = dict.fromkeys(fact for finding in findings for fact in _meant(finding, labelled))
    if named:
        return tuple(named)
    others = [chunk.content for chunk in facts if chunk not in labelled]
    return [match.sentence for match in best(request, (*others, *told), limit=1)]


def _meant(finding: Finding, facts: Sequence[Chunk]) -> Sequence[str]:
    """Return the facts that a finding takes back: all of a kind if it says so, else the only one.

    What names no kind of things ends one.
    """
    meant = [fact.content for fact in facts if _means(finding, fact)]
    if finding.value == ALL:
        return meant
    is_kind = tuple(finding.attribute.split("_")) in KINDS
    return () if is_kind and len(meant) > 1 else meant[:1]


def _means(finding: Finding, chunk: Chunk) -> bool:
    """Whether the fact is kept under the attribute, and says the value if one is named."""
    label = str(chunk.metadata["label"])
    if label != finding.attribute and not label.startswith(f"{finding.attribute}_"):
        return False
    return finding.value in (YES, NO, ALL) or set(tokens(finding.value)) <= set(
        tokens(chunk.content)
    )
