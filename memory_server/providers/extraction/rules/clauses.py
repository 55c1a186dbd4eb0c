"""Cutting sentences into clauses that can be taken at their word."""

import re
from collections.abc import Iterator

_BREAKS = {
    "en": re.compile(
        r"\s*(?:;|,?\s+(?:and|but|so|yet)|,)\s+(?=(?:also |now |then )?(?:I|I'm|I've|[Mm]y|we|we're|we've)\b)"
    ),
    "es": re.compile(
        r"\s*(?:;|,?\s+(?:y|e|pero|así que)|,)\s+(?=(?:también |ahora )?(?:yo|me|mi|mis|soy|tengo|vivo|trabajo|hablo"
        r"|estudio|odio|prefiero|no)\b)"
    ),
}
_OPENERS = {
    "en": re.compile(
        r"^(?:(?:well|oh|yes|yeah|yep|yup|no|nope|ok|okay|hey|hi|hello|so|also|and|but|actually|btw"
        r"|by the way|fyi|just so you know|for the record|for your information|honestly|to be honest"
        r"|in fact|anyway|look|listen|thanks|thank you|great|cool|sure|wow|ah|hmm|um|right|true"
        r"|please note that|note that|correction|sorry|you know|as you know|as I (?:said|mentioned))"
        r"(?:[,!.:—-]+\s*|\s+(?=I\b|I'm\b|I've\b|my\b)))+|^(?:please note that|note that|I (?:told you|already told you|said"
        r"|already said|mentioned) (?:that )?)",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"^(?:(?:bueno|pues|sí|si|no|vale|hola|oye|además|también|y|pero|en realidad|de hecho|por cierto"
        r"|la verdad|gracias|claro|ah|perdón|para que lo sepas|que sepas que|ten en cuenta que)"
        r"(?:[,!.:—-]+\s*|\s+(?=yo\b|soy\b|tengo\b|me\b|mi\b)))+",
        re.IGNORECASE,
    ),
}
_LEAD_IN = re.compile(
    r"^(?:As|For|Since|In|On|At|Every|After|Before|Currently|Nowadays|These days|Usually|Most of the time"
    r"|Right now|Recently|Lately|Last|This|Desde|En|Como|Hace|Actualmente|Ahora|Normalmente)\b[^,]{0,50},\s+",
)


def split(sentence: str, language: str) -> Iterator[str]:
    """Yield the clauses of a sentence, without openers like `Well,` and without the closing mark."""
    for clause in _BREAKS[language].split(_trimmed(sentence, language)):
        plain = _trimmed(clause, language)
        if plain:
            yield re.sub(r"^i\b", "I", plain) if language == "en" else plain


def without_lead_in(clause: str) -> str:
    """Return the clause without an adverbial at its head: `Since 2019, I ...`."""
    return _LEAD_IN.sub("", clause)


def _trimmed(text: str, language: str) -> str:
    plain = _OPENERS[language].sub("", text.strip()).strip()
    return re.sub(r"(?<![A-Z])[.!…,;:]+$|(?<=[A-Z]{2})[.!]+$", "", plain).strip()
