"""Words in a conversation that try to command its memory, and items that obeyed them.

Narrower than what rules pass over: somebody may well tell of rules, of other people, or of a
system prompt at work. An order tells to break rules, to remember for others, or poses as another
voice than a speaker's.
"""

import re
from collections.abc import Sequence

from memory_server.domain.wording import content

_RULES = (
    r"(?:rules?|instructions?|prompts?|guidelines|guardrails|restrictions|safety|reglas|órdenes"
    r"|instrucciones|indicaciones|regras|instruções|regeln|anweisungen|vorgaben)"
)
_OTHERS = (
    r"(?:(?:every|all|any|other|each|the other|another)(?: of the)?(?: other)? "
    r"(?:users?|tenants?|accounts?|agents?|customers?|projects?)"
    r"|(?:todos los|todas las|cada|otros|otro|cualquier|los demás)(?: otros)? "
    r"(?:usuarios?|cuentas?|proyectos?|agentes?)"
    r"|(?:todos os|cada|outros)(?: outros)? (?:usuários?|utilizadores)"
    r"|(?:alle|jeden|andere|jeder)n? (?:benutzer|nutzer)(?:n|s)?|(?:everyone|everybody)\b)"
)
_KEEP = (
    r"(?:remember|save|store|stored|record|write|add|keep|memori[sz]e|set|share|make|note"
    r"|recuerda|guarda|anota|apunta|comparte|registra|graba|lembra|salva|merk\w*|speicher\w*)"
)
_ORDERS = re.compile(
    "|".join(
        (
            rf"\b(?:ignore|disregard|override|bypass|forget|drop|break)\b[^.!?\n]{{0,40}}\b{_RULES}\b",
            rf"\b(?:ignora|olvida|omite|sáltate|ignore|esqueça)\b[^.!?\n]{{0,40}}\b{_RULES}\b",
            rf"\b(?:ignorier\w*|vergiss|vergessen sie)\b[^.!?\n]{{0,40}}\b{_RULES}\b",
            r"忽略[^\u3002\n]{0,20}(?:规则|指令|指示|提示)",
            r"(?:为|给|替)(?:所有|每个|其他)(?:的)?用户",
            rf"\b{_KEEP}\b[^.!?\n]{{0,120}}?\b(?:for|of|to|with|into|para|de|a|con|für)\s+{_OTHERS}",
            rf"\b(?:for|para|für)\s+{_OTHERS}[^.!?\n]{{0,40}}?\b{_KEEP}\b",
            r"\b(?:visibility|visibilidad)\b[^.!?\n]{0,20}(?:=|:|\bto\b|\bis\b|\ba\b)\s*[\"'`]?"
            r"(?:org|shared|public|private|global|all|every|todos)",
            r"\b(?:user|project|org|agent)_id\b[^.!?\n]{0,20}(?:=|:|\bto\b|\bis\b)\s*[\"'`]?\w",
            r"^[ \t]*(?:system|developer)[ \t]*:",
            r"<\|?\s*/?\s*(?:system|im_start|im_end)\b",
            r"\b(?:reveal|print|show|repeat|leak)\b[^.!?\n]{0,30}\bsystem prompt\b",
            r"\b(?:delete|erase|remove|overwrite|update|supersede|borra|elimina)\b[^.!?\n]{0,30}"
            r"\b(?:memory|memories|record|memoria|recuerdo)s?\b[^.!?\n]{0,20}"
            r"(?:\bid\b|\b[0-9a-f]{8,}|\bof\b|\bdel? (?:usuario|user))",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE_BEFORE = re.compile(r"(?:[.!?\u2026\u3002\uff01\uff1f][\"')\]]*\s*|\n)(?=[^.!?\n]*\Z)")
_SECRET = re.compile(
    r"\b(?:pass(?:words?|phrases?|codes?)|pin(?: code| number)?|api[- ]?keys?"
    r"|secret (?:key|token|code)"
    r"|(?:access|auth|bearer) token|cvv|private key|(?:credit|debit) card number|security code"
    r"|social security number|seed phrase|recovery (?:code|phrase)|contraseñas?|clave de acceso"
    r"|código de seguridad|passwort|kennwort|senha)\b"
    r"(?: (?:code|number|for|of|to|de|del|para)(?: [\w'-]+){0,4}?)?\"?"
    r"\s*(?:is|are|was|es|son|ist|é|:|=)\s*(?!(?:not|no|never|in|on|kept|stored|lost|safe|wrong"
    r"|too|required|needed|a|the|hard|easy|long|short)\b|\[secret\])\S|\bsk-[\w-]{8,}|密码(?:是|[:=])\s*\S",
    re.IGNORECASE,
)
_OBEYED = 0.5
"""Of what an item says, the least that must have been said outside of orders."""


def gives_orders(text: str) -> bool:
    """Whether the text tries to command memory itself."""
    return bool(_ORDERS.search(text))


def outside_orders(text: str) -> str:
    """Return what a turn says before its first order; what follows may be what is ordered."""
    order = _ORDERS.search(text)
    if order is None:
        return text
    before = text[: order.start()]
    sentence = _SENTENCE_BEFORE.search(before)
    return before[: sentence.end()] if sentence else ""


def only_obeys(item: str, evidence: Sequence[str]) -> bool:
    """Whether most of what an item says was said in nothing but orders."""
    if not any(gives_orders(text) for text in evidence):
        return False
    said = _units("\n".join(outside_orders(text) for text in evidence))
    units = _units(item)
    return bool(units) and len(units & said) < _OBEYED * len(units)


def tells_secret(text: str) -> bool:
    """Whether the text tells a password or the like, and not only of one."""
    return bool(_SECRET.search(text))


def _units(text: str) -> frozenset[str]:
    """Return the stems of a text, and the letters of those scripts that write no spaces."""
    letters = frozenset(letter for letter in text if "\u3040" <= letter <= "\u9fff")
    return content("".join(" " if letter in letters else letter for letter in text)) | letters
