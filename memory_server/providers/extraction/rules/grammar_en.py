"""From the first person to the third, in English."""

import re

from memory_server.providers.extraction.rules.rulebook import rulebook

_CONTRACTED = {"'m": " is", "'ve": " has", "'d": " had", "'ll": " will"}
_LATER = {"'m": "they're", "'ve": "they've", "'d": "they'd", "'ll": "they'll", None: "they"}
_I = re.compile(r"I(?P<short>'m|'ve|'d|'ll)?(?![\w'])")
_OWN = {"my": "their", "mine": "theirs", "me": "them", "myself": "themself"}
_OWN_WORD = re.compile(r"\b(my|mine|me|myself)\b", re.IGNORECASE)


def third_person(clause: str, subject: str) -> str:
    """Return a first-person clause about `subject` (`The user`, a name) as a sentence."""
    first = re.search(r"\b(?:I|[Mm]y)\b", clause)
    if first is None or re.search(r"\b(?:we|us|our|ours|you|your)\b", clause, re.IGNORECASE):
        return quoted(clause, subject)
    head, tail = clause[: first.start()], clause[first.start() :]
    if head and head[-1:] != " ":
        return quoted(clause, subject)
    named = (
        subject
        if not head
        else subject[0].lower() + subject[1:]
        if _is_phrase(subject)
        else subject
    )
    told = f"{named}'s{_others(tail[2:])}" if tail[0] in "Mm" else _acting(tail, named)
    return sentence(_others(head) + told)


def quoted(clause: str, subject: str) -> str:
    """Return what was said as a quotation, where rewriting it might change it."""
    return f'{subject} said: "{clause}".'


def sentence(text: str) -> str:
    """Return the text with a capital letter at its head and a mark at its end."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "…")) else ".")


def _is_phrase(subject: str) -> bool:
    return subject.startswith(("The ", "El "))


def _acting(text: str, subject: str) -> str:
    match = _I.match(text)
    if match is None:
        return _others(text)
    rest = text[match.end() :]
    if match["short"]:
        return subject + _CONTRACTED[match["short"]] + _others(rest)
    return subject + _others(_conjugated(rest))


def _conjugated(rest: str) -> str:
    adverbs = rulebook("en").grammar["adverbs"].split()
    words = rest.split(" ")
    for position, word in enumerate(words):
        if word and word not in adverbs:
            words[position] = _third(word)
            break
    return " ".join(words)


def _third(verb: str) -> str:
    grammar = rulebook("en").grammar
    if verb in grammar["irregular"]:
        return str(grammar["irregular"][verb])
    is_past = verb.endswith("ed") and verb not in ("need", "feed", "breed")
    if is_past or verb in grammar["unchanged"].split():
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"


def _others(text: str) -> str:
    """Put every later first person into the plural of unknown gender."""
    text = re.sub(r"\bI am\b", "they are", text)
    text = re.sub(r"\bI was\b", "they were", text)
    text = re.sub(r"\bI('m|'ve|'d|'ll)?(?![\w'])", lambda match: _LATER[match.group(1)], text)
    return _OWN_WORD.sub(lambda match: _OWN[match.group(1).lower()], text)
