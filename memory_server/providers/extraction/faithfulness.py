"""Whether what an item says stands in the words that it rests on.

What is compared is what must come through to the letter: numbers with their units, dates, links,
code, names, and the script. Spelling is treated kindly, and a date counts as said if the words
and their own time give it. Wording, order and grammar are the writer's own.
"""

import difflib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache

from memory_server.domain.calendar import (
    MONTH_NAME,
    MONTHS,
    WEEKDAYS,
    WRITTEN_DATES,
    YEAR_NUMBER,
    Span,
    month_named,
    written_date,
)
from memory_server.domain.words import QUESTION_WORDS
from memory_server.providers.extraction.quantities import (
    all_readings,
    quantities,
    spelled,
    units_of,
)

_LINK = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'`\])}|]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE
)
_CODE = re.compile(r"(?:```|~~~)[^\n]*\n(?P<block>.*?)(?:```|~~~)|`(?P<span>[^`\n]+)`", re.DOTALL)
_MONTH = re.compile(
    rf"\b(?P<month>{MONTH_NAME})\.?,? (?:of |de |del )?(?P<year>{YEAR_NUMBER})\b", re.IGNORECASE
)
_YEAR = re.compile(rf"(?<![\w.,:/-])(?P<year>{YEAR_NUMBER})(?![\w:/-]|[.,]\d)")
_DAYS = tuple(re.compile(rf"(?<!\w){form}(?!\w)", re.IGNORECASE) for form in WRITTEN_DATES)
_WORD = re.compile(r"[^\W\d_][\w'\u2019]*")
_OPENS = re.compile(
    r"(?:\A|[.!?:;\n\u2026\u2022\u00bf\u00a1|#>]|\s[-*\u2013\u2014])[\s\"'\u201c\u2018\u00ab(*_\[]*\Z"
)
_ROLES = frozenset(
    "user users usuario usuaria usuarios usuário assistant asistente assistente benutzer nutzer ai"
    " i i'm i've i'd i'll ok mr mrs ms dr sr sra don doña ps".split()
)
_NOBODY = frozenset(
    "everyone everybody anyone anybody users people others customers todos cualquiera alle system"
    " admin administrator root developer".split()
) | {"all users", "every user", "other users", "any user", "todos los usuarios", "all"}
_GERMAN = frozenset(
    "der die das und ist nicht ein eine ich mein meine habe hat mit auf für".split()
)
_DEMONYM = re.compile(r"(?:ish|ese|i?an|ch|eño|eña|és|esa)s?\Z")
_NOTHING = frozenset("0")
"""What a model may write for `no` and `none`."""
_ALIKE = 0.8
_SHORTEST_ALIKE = 3
_STEM = 4
_COMMON = QUESTION_WORDS | frozenset(
    "not and but have having will would could should does doing been being with without from"
    " into about than then that this these those they them their there here very much many more"
    " most also always"
    " never often usually really just only even still some like likes loves wants want needs need"
    " makes made gets takes good great person someone speaker"
    " tiene tener tengo esta este esto estos estas para pero porque como cuando donde muy mucho"
    " mucha siempre nunca solo tambien gusta gustan quiere hace hacer sobre entre desde hasta"
    " persona alguien".split()
)
"""Words that are in sentences on every matter."""
_HEADLINE = 0.7
"""The share of capitals from which a text is a headline, whose capitals name nobody."""
_SCRIPTS = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "FULLWIDTH": "LATIN"}
_OF_A_SCRIPT = 0.6
_NONE_OF_IT = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What an item may draw on."""

    evidence: str
    """The turns that it names, and what each of them answers."""
    conversation: str
    """Everything that was shown, with the speakers' names: whom a pronoun means."""
    spans: Sequence[Span] = ()
    """The days that the evidence's words tell together with their own time, and that time's."""


def unfounded(text: str, words: Words) -> str | None:
    """Return the first thing that a text says and nobody said, or None."""
    return _Comparison(text, words).problem()


def unspoken(text: str, words: Words) -> str | None:
    """Return a doubt if nothing in the conversation speaks of what a sentence is about, or None.

    So an example of the prompt is told from what somebody said. What has names, numbers or links
    is left to `unfounded`, other scripts than the Latin are not judged.
    """
    plain = _plain(text)
    told = [_folded(word) for word in _split(plain)]
    matter = [word for word in told if _is_of_a_matter(word)]
    is_tied = plain != text or [*_names_in(text), *quantities(text), *spelled(text)]
    if not matter or is_tied or not all(map(str.isascii, told)):
        return None
    known = _Known(words)
    if any(map(known.speaks_of, matter)):
        return None
    return "nothing in the conversation speaks of it"


def headline_unfounded(text: str, words: Words) -> str | None:
    """Return the same of a title, a label or the like, whose capitals name nobody."""
    return _Comparison(text, words).problem(with_names=False)


def named_unfounded(name: str, words: Words) -> str | None:
    """Return what is wrong with the name of a person or a term that nobody said, or None."""
    if name.casefold().strip() in _NOBODY:
        return f"{name!r} is nobody in this conversation"
    if _flattened(name) in _flattened(f"{words.conversation}\n{words.evidence}"):
        return None
    known = _Known(words)
    if not known.has(name):
        return f"the name {name!r} does not stand in the conversation"
    return None


class _Comparison:
    def __init__(self, text: str, words: Words) -> None:
        self._text = text
        self._words = words

    def problem(self, *, with_names: bool = True) -> str | None:
        checks = [self._script, self._links, self._code, self._dates, self._numbers]
        if with_names:
            checks.append(self._names)
        return next((found for check in checks if (found := check()) is not None), None)

    @cached_property
    def _flat(self) -> str:
        return _flattened(self._words.evidence)

    @cached_property
    def _said(self) -> frozenset[str]:
        return all_readings(self._words.evidence)

    def _script(self) -> str | None:
        own, share = _script_of(self._text)
        if share < _OF_A_SCRIPT or not own:
            return None
        letters = _scripts(self._words.evidence)
        if letters and letters.count(own) < _NONE_OF_IT * len(letters):
            return "is written in another script than its evidence; keep the language"
        return None

    def _links(self) -> str | None:
        for link in _LINK.findall(self._text):
            bare = _flattened(link.rstrip(".,;:!?/\u2026"))
            if bare not in self._flat:
                return f"the link {link!r} does not stand in its evidence"
        return None

    def _code(self) -> str | None:
        for found in _CODE.finditer(self._text):
            for line in (found["block"] or found["span"] or "").splitlines():
                if _flattened(line).strip(" .") not in self._flat:
                    return f"the code {line.strip()!r} does not stand in its evidence"
        return None

    def _dates(self) -> str | None:
        for written, span in _dates_in(_plain(self._text)):
            numbers = set(re.findall(r"\d+", written))
            is_said = {number.lstrip("0") for number in numbers} <= self._said
            if not is_said and not any(_overlap(span, known) for known in self._words.spans):
                return f"the date {written!r} is not what its evidence tells"
        return None

    def _numbers(self) -> str | None:
        text = _without_dates(_plain(self._text))
        for one in (*quantities(text), *spelled(text)):
            if not one.readings & self._said and one.readings != _NOTHING:
                return f"the number {one.written!r} does not stand in its evidence"
            units = units_of(self._words.evidence, one.readings) if one.unit else frozenset()
            if units and one.unit not in units:
                return f"{one.written!r} has another unit in its evidence"
        return None

    def _names(self) -> str | None:
        if _is_german(self._words.evidence):  # every noun has a capital
            return None
        known = _Known(self._words)
        for name in _names_in(_plain(self._text)):
            if not known.has(name):
                return f"the name {name!r} does not stand in the conversation"
        return None


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of a text as names are looked for among them."""

    words: Mapping[str, frozenset[str]]
    """Folded, by their first letters."""
    initials: str


@lru_cache(maxsize=8)
def _vocabulary(text: str) -> _Vocabulary:
    by_letter: dict[str, set[str]] = defaultdict(set)
    initials: list[str] = []
    for word in _split(text):
        folded = _folded(word)
        by_letter[folded[:1]].add(folded)
        initials.append(word[0].upper())
    return _Vocabulary(
        {key: frozenset(words) for key, words in by_letter.items()}, "".join(initials)
    )


class _Known:
    """What a conversation names, in words or by its times."""

    def __init__(self, words: Words) -> None:
        self._said = tuple(_vocabulary(text) for text in (words.evidence, words.conversation))
        self._days: set[date] = set()
        self._months: set[int] = set()
        for first, after in words.spans:
            last = after - timedelta(days=1)
            self._months |= {first.month, last.month}
            if last - first < timedelta(days=len(set(WEEKDAYS.values()))):
                count = range((after - first).days)
                self._days |= {first + timedelta(days=number) for number in count}

    def has(self, name: str) -> bool:
        """Whether a name was said: each of its parts, a single letter aside."""
        return all(self._has(part) for part in _split(name) if len(part) > 1)

    def speaks_of(self, word: str) -> bool:
        """Whether a word was said, or one of the same stem."""
        near = (said.words.get(word[0], ()) for said in self._said)
        return any(
            known[:_STEM] == word[:_STEM] or _are_alike(word, known)
            for words in near
            for known in words
            if _is_of_a_matter(known)
        )

    def _has(self, name: str) -> bool:
        word = _folded(name)
        if word in _ROLES or self._stands(word):
            return True
        day = WEEKDAYS.get(word.removesuffix("s"))
        if word in MONTHS or day is not None:
            return self._is_named_otherwise(word, day)
        if name.isupper() and any(name in said.initials for said in self._said):
            return True
        near = (said.words.get(word[0], ()) for said in self._said)
        return any(_are_alike(word, known) for words in near for known in words)

    def _stands(self, word: str) -> bool:
        return any(word in said.words.get(word[:1], ()) for said in self._said)

    def _is_named_otherwise(self, word: str, day: int | None) -> bool:
        """Whether a month or weekday was said in another spelling, or is that of a time."""
        names, number = (WEEKDAYS, day) if day is not None else (MONTHS, MONTHS[word])
        told = self._months if day is None else {one.weekday() for one in self._days}
        spellings = (_folded(name) for name, same in names.items() if same == number)
        return number in told or any(map(self._stands, spellings))


def _names_in(text: str) -> Iterator[str]:
    """Yield capitalised words that no sentence begins with; of a headline none."""
    words = list(_WORD.finditer(text))
    long = [word.group() for word in words if len(word.group()) > _SHORTEST_ALIKE]
    if len(long) > _SHORTEST_ALIKE and sum(map(_is_capital, long)) > _HEADLINE * len(long):
        return
    for word in words:
        if _is_capital(word.group()) and not _OPENS.search(text[: word.start()][-12:]):
            yield re.sub(r"['\u2019]s?\Z", "", word.group())


def _is_of_a_matter(word: str) -> bool:
    """Whether a folded word is of a matter, as far as its length and common ones tell."""
    return len(word) >= _SHORTEST_ALIKE and word not in _COMMON and word not in _ROLES


def _is_capital(word: str) -> bool:
    return word[0].isupper() and word[0].lower() != word[0]


def _are_alike(word: str, known: str) -> bool:
    if word[0] != known[0] or min(len(word), len(known)) < _SHORTEST_ALIKE:
        return False
    if _DEMONYM.search(word) and word[:3] == known[:3]:
        return True
    if abs(len(word) - len(known)) > _SHORTEST_ALIKE:
        return False
    return difflib.SequenceMatcher(None, word, known).ratio() >= _ALIKE


def _split(text: str) -> Iterator[str]:
    return (found.group() for found in re.finditer(r"[^\W\d_]+", text))


def _folded(word: str) -> str:
    composed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in composed if not unicodedata.combining(letter))


def _flattened(text: str) -> str:
    folded = text.casefold().replace("\u2019", "'").replace("\u2018", "'")
    return " ".join(re.sub("[\u201c\u201d]", '"', folded).split())


def _plain(text: str) -> str:
    """Return a text without links and code, which are looked at apart."""
    return _LINK.sub(" ", _CODE.sub(" ", text))


def _dates_in(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the dates that a text writes out with their years, and the years alone."""
    for form, span_of in _DATE_FORMS:
        for found in form.finditer(text):
            span = span_of(found)
            if span is not None:
                yield found.group(), span
        text = form.sub(" ", text)


def _without_dates(text: str) -> str:
    for form, span_of in _DATE_FORMS:
        places = [found.span() for found in form.finditer(text) if span_of(found)]
        for start, end in reversed(places):
            text = f"{text[:start]} {text[end:]}"
    return text


def _day(found: re.Match[str]) -> Span | None:
    try:
        day = written_date(found)
    except ValueError:
        return None
    return None if day is None else (day, day + timedelta(days=1))


def _month(found: re.Match[str]) -> Span | None:
    try:
        first = date(int(found["year"]), month_named(found["month"]), 1)
    except ValueError:
        return None
    return first, first + timedelta(days=28)


def _year(found: re.Match[str]) -> Span:
    year = int(found["year"])
    return date(year, 1, 1), date(year, 12, 31)


_DATE_FORMS = (*((form, _day) for form in _DAYS), (_MONTH, _month), (_YEAR, _year))


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _scripts(text: str) -> list[str]:
    return [
        _SCRIPTS.get(script, script)
        for letter in _plain(text)
        if letter.isalpha() and (script := unicodedata.name(letter, "").partition(" ")[0])
    ]


def _script_of(text: str) -> tuple[str, float]:
    """Return the script that most letters are of, and their share."""
    letters = _scripts(text)
    if not letters:
        return "", 0.0
    most = max(set(letters), key=letters.count)
    return most, letters.count(most) / len(letters)


def _is_german(text: str) -> bool:
    words = [word.casefold() for word in _split(text)]
    return sum(word in _GERMAN for word in words) > len(words) // 10 and len(words) > 1
