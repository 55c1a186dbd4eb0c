"""From the first person to the third, in English."""

import re

_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "go": "goes",
    "haven't": "hasn't",
}
_UNCHANGED = frozenset(
    "was wasn't had hadn't did didn't will won't can can't cannot must should would could may might "
    "went got took bought made began started grew moved ran won lost wrote read met became sold quit "
    "left gave found built drove taught spent came kept told said thought felt put set never "
    "used".split()
)
_ADVERBS = frozenset(
    "always usually normally typically generally mostly mainly often really absolutely still currently "
    "now also actually just only already recently finally even totally definitely personally primarily "
    "never no longer almost pretty much sometimes rarely hardly".split()
)
_CONTRACTED = {"'m": " is", "'ve": " has", "'d": " would", "'ll": " will"}
_LATER = {"'m": "they're", "'ve": "they've", "'d": "they'd", "'ll": "they'll", "": "they"}
_I = re.compile(r"\bI(?P<short>'m|'ve|'d|'ll)?\b(?P<rest>(?: [\w']+)*)")
_OWN = {"my": "their", "mine": "theirs", "me": "them", "myself": "themself"}
_OWN_WORD = re.compile(r"\b(my|mine|me|myself)\b", re.IGNORECASE)


def third_person(clause: str, subject: str) -> str:
    """Return a first-person clause about `subject` (`The user`, a name) as a sentence."""
    first = re.search(r"\b(?:I|[Mm]y)\b", clause)
    if first is None:
        return quoted(clause, subject)
    head, tail = clause[: first.start()], clause[first.start() :]
    told = _owner(tail, subject) if tail[0] in "Mm" else _actor(tail, subject)
    return _sentence(head + told)


def quoted(clause: str, subject: str) -> str:
    """Return what was said as a quotation, where rewriting it might change it."""
    return f'{subject} said: "{clause}".'


def _owner(text: str, subject: str) -> str:
    return f"{subject}'s" + _others(text[2:])


def _actor(text: str, subject: str) -> str:
    match = _I.match(text)
    assert match is not None
    short = match["short"]
    rest = text[match.start("rest") :]
    if short:
        return subject + _CONTRACTED[short] + _others(rest)
    return subject + _others(_conjugated(rest))


def _conjugated(rest: str) -> str:
    words = rest.split(" ")
    for position, word in enumerate(words):
        if word and word not in _ADVERBS:
            words[position] = _third(word)
            break
    return " ".join(words)


def _third(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _UNCHANGED or (verb.endswith("ed") and verb not in ("need", "feed", "breed")):
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"


def _others(text: str) -> str:
    """Put every later first person into the plural of unknown gender."""
    text = re.sub(r"\bI am\b", "they are", text)
    text = re.sub(r"\bI was\b", "they were", text)
    text = re.sub(r"\bI('m|'ve|'d|'ll)?(?![\w'])", lambda m: _LATER[m.group(1) or ""], text)
    return _OWN_WORD.sub(lambda match: _OWN[match.group(1).lower()], text)


def _sentence(text: str) -> str:
    text = text.strip()
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!")) else ".")
