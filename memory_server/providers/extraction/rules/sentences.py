"""Cutting text into sentences without breaking names, initials, numbers and addresses."""

import re

_ABBREVIATION = re.compile(
    r"(?:\b(?:St|Dr|Mr|Mrs|Ms|Prof|Jr|Sr|Mt|Ft|Rd|Ave|vs|etc|No|approx|Inc|Ltd|Co|Corp|Sra|Dra"
    r"|Ud|Uds"
    r"|e\.g|i\.e|a\.m|p\.m|U\.S|U\.K)|\b[A-Z])\.$"
)
_BREAK = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_BULLET = re.compile(r"^[ \t]*(?:[-*•][ \t]+|\d{1,2}[.)][ \t]+)", re.MULTILINE)


def split(text: str) -> list[str]:
    """Return the sentences in order, each with its closing mark, bullets taken off."""
    text = _BULLET.sub("", text)
    sentences: list[str] = []
    start = 0
    for mark in _BREAK.finditer(text):
        head = text[start : mark.start()]
        if "\n" not in mark.group() and _ABBREVIATION.search(head):
            continue
        sentences.append(head)
        start = mark.end()
    sentences.append(text[start:])
    return [stripped for sentence in sentences if (stripped := sentence.strip())]
