"""What a request to forget will take back, told only as far as the rules will do it."""

import re
from collections.abc import Sequence

from memory_server.domain.chunk import Chunk, Source
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


def named_fact(request: str, chunks: Sequence[Chunk], told: Sequence[str]) -> str | None:
    """Return the known fact that the request takes back, or None when it names none.

    `told` is what was stated of late, of which no fact may have been made yet.
    """
    read = requests.read(request, rulebook(language.guess(request)))
    findings = [finding for finding in read or () if finding.retracts]
    if not findings:
        return None
    facts = [chunk for chunk in chunks if chunk.source is Source.SEMANTIC]
    labelled = [chunk for chunk in facts if "label" in chunk.metadata]
    for chunk in labelled:
        if any(_means(finding, chunk) for finding in findings):
            return chunk.content
    others = [chunk.content for chunk in facts if chunk not in labelled]
    found = best(request, (*others, *told), limit=1)
    return found[0].sentence if found else None


def _means(finding: Finding, chunk: Chunk) -> bool:
    """Whether the fact is kept under the attribute, and says the value if one is named."""
    label = str(chunk.metadata["label"])
    if label != finding.attribute and not label.startswith(f"{finding.attribute}_"):
        return False
    return finding.value in (YES, NO) or set(tokens(finding.value)) <= set(tokens(chunk.content))
