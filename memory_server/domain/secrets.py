"""Passwords, PINs, keys, card numbers and codes: found where they are told, and taken out.

A secret is told after a word for it (`my PIN is ...`, `la clave del wifi: ...`), has a form of
its own (a bearer token, a card number), or is the answer to a question after one. What is said
*about* a secret, as that it was changed or is too short, is none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memory_server.domain.secret_words import (
    ABOUT_SECRETS,
    BEFORE_NUMBERS,
    CODE_NOUN,
    DIGITS,
    DOOR,
    FORMS,
    MARK,
    NOUN,
    SPOKEN_OF,
    UNITS,
)
from memory_server.domain.turn import Turn

_SENTENCE = re.compile(r"(?:(?<=[.!?…])[\"')\]»”]*\s+|\n+)")
_REACH = 100
"""Characters between the word for a secret and the secret."""
_NEAR = 40
"""Characters beside a number that tell what it counts."""
_FURTHEST = 400
"""Characters that a phrase of many words may take."""
_MOST = 200
"""Secrets of one conversation that are looked for where they are said again."""
_QUOTED = r"[\"“«'`](?P<quoted>[^\"”»'`\n]{3,60})[\"”»'`]"
_CODE = re.compile(
    r"(?<![\w@$€£.+/-])(?:"
    r"(?P<group>\d{2,6}(?:[ .-]\d{2,6}){1,5}|\d(?: \d){3,7})(?![\w@])"
    r"|(?P<token>(?![=:*])(?=[^\s\d]*\d)[^\s,;\"“”«»()<>]*[^\s,;\"“”«»()<>.!?:…]))"
)
_NO_CODE = re.compile(
    r"\d{1,2}:\d\d(?:[ap]m)?|\d{1,4}[/.]\d{1,2}(?:[/.]\d{2,4})?|\d{4}-\d\d-\d\d|\d{1,2}(?:st|nd|rd|th|º|ª|er)"
    r"|\d+(?:[.,]\d+)?%|[\w.+-]+@[\w-]+\.[a-z]{2,}|https?:\S*|2fa|wpa[23]|1password|oauth2?"
    r"|\d+(?:am|pm|h|km|kg|cm|mm|gb|mb|ml|min|s|x|k|m)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:^|[\s(])[A-ZÀ-Þ][a-zà-ÿ]{2,}\s$")
"""A name before a number, as of a model."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_LINKED = re.compile(
    r"^[\"”»]?(?:\s+(?:for|of|to|on|at|in|de|del|para|en)(?:\s+[\w'.\u2019-]+){1,5}?)?[\"”»]?\s*"
    r"(?:(?:\s(?:is|are|was|es|son|era|será)(?: now| still| ahora| the word| la palabra)?\b[:,]?"
    r"|(?:\s[\w'.-]+){0,2}?\s?(?:=|:|→|->))\s*)"
    rf"(?:{_QUOTED}|(?P<words>[^\s,;.!?()\n]+(?: [^\s,;.!?()\n]+){{0,23}}))",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"^(?:\s+(?:for|of|on|de|del|para|en)(?:\s+[\w'.\u2019-]+){1,4}?)?\s+(?:to|a|por)\s+"
    rf"(?:{_QUOTED}|(?P<words>[^\s,;.!?()\n]+))",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"\b(?:chang|set|reset|updat|cambi|puse|pus[eo]|actualic)\w*[^.!?\n]{0,40}$", re.IGNORECASE
)
_ANSWERED = re.compile(
    r"^\W*(?:(?:it|that|this)(?:'s| is| was)|es|son|era)(?: just| el| la)? "
    rf"(?:{_QUOTED}|(?P<words>[^\s,;.!?()\n]+))",
    re.IGNORECASE,
)
_SPOKEN_DIGITS = re.compile(rf"\b{DIGITS}(?:[ ,-]+{DIGITS}){{2,}}\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?P<code>(?<![\w@$€£.+/-])\w*-?\d\w*[\w#*-]*)[\"”»]?"
    r"(?:\s+(?:is|was|es|era)|,\s+(?:it's|that's|it is|es|que es|which is))\s+"
    rf"(?:(?:my|the|our|your|his|her|mi|la|el|su|tu)\s+)?(?:\w+\s+){{0,2}}?{NOUN}",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\s(?:and|but|so|because|y|e|pero|porque|así|if|in case|por si)\s", re.IGNORECASE
)
_GROUPED = r"[\s.-]?"
_LEAST_OF_PHRASE = 4
_LONGEST_PHRASE = 6
_LEAST = 3
_LEAST_TO_FIND_AGAIN = 4
_SHORT_ANSWER = 8
"""Words of a sentence that may be nothing but the answer."""
_ANSWERED_WITHIN = 3
"""Turns after a question for a secret in which a code is the answer."""
_ONE_WORD = re.compile(r"\W*(?P<word>\w[^\s.!?,;]{3,})[.!]?\s*$")
_NO_ANSWER = frozenset(
    "yes yeah nope none sure maybe okay thanks hello sorry unknown forgotten nothing what never "
    "idk dunno claro gracias vale nada ninguna ninguno olvidada perdón hola quizás nunca".split()
)
_CARD = re.compile(r"(?<![\w.+-])(?<![A-Z]{2}\d\d )[2-6](?:[ -]?\d){14,15}(?!\w|\.\d|[ -]\d)")


@dataclass(frozen=True)
class Secrets:
    """The secrets that a conversation tells."""

    values: frozenset[str]

    def hidden(self, text: str) -> str:
        """Return the text with each secret replaced, told in it or known from elsewhere."""
        spans = [*_spans(text), *self._known(text)]
        return _without(text, spans)

    def _known(self, text: str) -> Iterator[tuple[int, int]]:
        if self._again is not None:
            yield from (found.span() for found in self._again.finditer(text))

    @cached_property
    def _again(self) -> re.Pattern[str] | None:
        ways = sorted(map(_spelled, sorted(self.values)[:_MOST]), key=len, reverse=True)
        return re.compile("|".join(ways), re.IGNORECASE) if ways else None


def secrets_of(turns: Sequence[Turn]) -> Secrets:
    """Return what the turns of a conversation tell that nobody should keep."""
    values: set[str] = set()
    asks = [_asks(turn.content) for turn in turns]
    for place, text in enumerate(turn.content for turn in turns):
        asked = asks[max(0, place - _ANSWERED_WITHIN) : place]
        answers = _answers(text, is_next=asked[-1]) if any(asked) else ()
        found = {text[start:end] for start, end in (*_spans(text), *answers)}
        values.update(value for value in found if len(value) >= _LEAST_TO_FIND_AGAIN)
    return Secrets(frozenset(values))


def without_secrets(turns: Sequence[Turn]) -> tuple[Sequence[Turn], Secrets]:
    """Return the turns with `[secret]` in the place of each secret, and the secrets."""
    secrets = secrets_of(turns)
    return [replace(turn, content=secrets.hidden(turn.content)) for turn in turns], secrets


def is_only_secret(text: str) -> bool:
    """Whether nothing is left of a text beside secrets that were taken out."""
    return MARK in text and not re.search(r"\w", text.replace(MARK, ""))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    told, done = "", 0
    for start, end in sorted(set(spans)):
        if end <= done or text[start:end] in MARK:
            continue
        told += text[done : max(start, done)] + (MARK if start >= done else "")
        done = end
    return told + text[done:]


def _spelled(value: str) -> str:
    """Return an expression for a value however its digits are grouped."""
    digits = re.sub(r"[\s.-]", "", value)
    if digits.isdigit():
        return rf"(?<!\d){_GROUPED.join(digits)}(?!\d)"
    words = r"\s+".join(re.escape(word) for word in value.split())
    return rf"(?<!\w){words}(?!\w)"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text tells secrets."""
    for form in FORMS:
        for found in form.finditer(text):
            yield found.span("secret")
    yield from (found.span() for found in _CARD.finditer(text) if _is_card(found.group()))
    if ABOUT_SECRETS.search(text):
        yield from _told(text)


def _told(text: str) -> Iterator[tuple[int, int]]:
    spoken_of = False
    for start, end in _sentences(text):
        sentence = text[start:end]
        nouns = list(NOUN_PATTERN.finditer(sentence))
        codes = list(_codes(sentence)) if nouns else []
        spans = [span for noun in nouns for span in _after(sentence, noun, codes)]
        spans += [found.span("code") for found in _BEFORE.finditer(sentence)]
        spans += [
            found.span("secret")
            for found in DOOR.finditer(sentence)
            if not UNITS.match(sentence[found.end() :])
        ]
        if spoken_of and not nouns:
            spans += _answer(sentence)
        yield from ((start + first, start + last) for first, last in spans)
        spoken_of = bool(nouns) and not spans


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _SENTENCE.finditer(text):
        yield start, mark.start()
        start = mark.end()
    yield start, len(text)


def _after(
    sentence: str, noun: re.Match[str], codes: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the secrets that come after a word for one, of its codes those within reach."""
    at = noun.end()
    rest = sentence[at : at + _REACH]
    least = _LEAST if "cv" in noun.group().casefold() else _LEAST_TO_FIND_AGAIN
    near = [
        (start, end)
        for start, end in codes
        if at <= start < at + _REACH and _size(sentence[start:end]) >= least
    ]
    yield from near
    digits = _SPOKEN_DIGITS.search(rest)
    if digits:
        yield at + digits.start(), at + digits.end()
    following = sentence[at : at + _FURTHEST]
    linked = _LINKED.match(following)
    if linked is None and _CHANGING.search(sentence[max(0, noun.start() - _REACH) : noun.start()]):
        linked = _CHANGED.match(following)
    if linked is None or (near and linked["quoted"] is None):
        return
    if linked["quoted"] is not None:
        start, end = linked.span("quoted")
        yield at + start, at + end
    elif not CODE_NOUN.match(sentence, noun.start()):
        yield from ((at + start, at + end) for start, end in _phrase(linked, noun.group()))


def _phrase(linked: re.Match[str], noun: str) -> Iterator[tuple[int, int]]:
    """Yield the words that are a secret, up to where the sentence goes on."""
    words = linked["words"]
    ends = _ENDS.search(words)
    words = words[: ends.start()] if ends else words
    is_long = "phrase" in noun.casefold() or "frase" in noun.casefold()
    told = words.split()
    is_phrase = is_long and len(told) >= _LEAST_OF_PHRASE
    if told and (is_phrase or told[0].strip("'\"").casefold() not in SPOKEN_OF):
        is_fit = is_phrase or len(told) <= _LONGEST_PHRASE
        kept = words if is_fit else told[0]
        if len(kept) >= _LEAST and MARK not in kept:
            yield linked.start("words"), linked.start("words") + len(kept)


def _size(code: str) -> int:
    return sum(letter.isalnum() for letter in code)


def _codes(text: str) -> Iterator[tuple[int, int]]:
    """Yield what looks like a code: digits that count nothing, and letters mixed with digits."""
    for found in _CODE.finditer(text):
        code = found.group()
        if _NO_CODE.fullmatch(code) or code in MARK:
            continue
        before = text[max(0, found.start() - _NEAR) : found.start()]
        after = text[found.end() : found.end() + _NEAR]
        is_number = not re.search(r"[^\W\d_]", code)
        if is_number and (UNITS.match(after) or BEFORE_NUMBERS.search(before)):
            continue
        if is_number and _NAMED.search(before):
            continue
        if is_number and _YEAR.fullmatch(code) and not re.search(r"(?:is|es|:|=)\s*$", before):
            continue
        if _size(code) >= _LEAST:
            yield found.span()


def _answer(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield the secret of a sentence that answers what was spoken of before."""
    if len(sentence.split()) > _SHORT_ANSWER:
        return
    codes = [span for span in _codes(sentence) if _size(sentence[slice(*span)]) > _LEAST]
    yield from codes
    digits = _SPOKEN_DIGITS.search(sentence)
    if digits:
        yield digits.span()
    answered = _ANSWERED.match(sentence)
    if answered is None or codes or digits:
        return
    group = "quoted" if answered["quoted"] else "words"
    if answered[group].casefold() not in SPOKEN_OF and len(answered[group]) >= _LEAST:
        yield answered.span(group)


def _asks(text: str) -> bool:
    """Whether a turn asks for a secret."""
    return any(
        text[start:end].endswith(("?", ":")) and NOUN_PATTERN.search(text[start:end])
        for start, end in _sentences(text.strip())
    )


def _answers(text: str, *, is_next: bool) -> Iterator[tuple[int, int]]:
    """Yield the secret of a turn that answers the question for one: one word, or a code."""
    start, end = next(_sentences(text))
    yield from ((start + first, start + last) for first, last in _answer(text[start:end]))
    word = _ONE_WORD.match(text)
    if is_next and word and word["word"].casefold() not in _NO_ANSWER:
        yield word.span("word")


def _is_card(number: str) -> bool:
    """Whether the digits are a payment card's, by their check digit or their grouping."""
    if re.fullmatch(r"(?:\d{4}[ -]){3}\d{4}|\d{4}[ -]\d{6}[ -]\d{5}", number):
        return True
    digits = [int(digit) for digit in number if digit.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


NOUN_PATTERN = re.compile(NOUN, re.IGNORECASE)
