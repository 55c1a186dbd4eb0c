"""What a clause claims, by the patterns of its language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_server.providers.extraction.rules import guards, values
from memory_server.providers.extraction.rules.pattern import Pattern, slug
from memory_server.providers.extraction.rules.rulebook import Rulebook

YES, NO = "yes", "no"
_MAX_VALUE_WORDS = 25
_POINTING = re.compile(
    r"\b(?:them|these|those|you|your|him|her|each other|one another"
    r"|this(?! (?:year|month|week|weekend|summer|autumn|fall|winter|spring)\b))\b",
    re.IGNORECASE,
)
_FURTHER_PLACE = re.compile(r"^, (?!and\b)[A-ZÀ-Þ][\w.'-]+(?: [A-ZÀ-Þ][\w.'-]+)*(?=$|[,;.]|\s)")
_PARTICLES = re.compile(
    r"(?:,? (?:mostly|mainly|a lot|very much|daily|regularly|sometimes|too|either|also|as well"
    r"|tampoco|también|igualmente|tanto))+[\s.!,…]*$",
    re.IGNORECASE,
)
_PICTURES = re.compile(
    r"(?<!\bis)(?<!\bes)(?<!\bel)(?<!\bla)(?<!\bare)[\s\U00002190-\U0001faff\ufe0f\u200d]+$"
)
"""Emoji at the end: they stay in the words, and are no part of a value."""
_LIST = re.compile(r",? (?:and|or|y|e|o) |, | & ")
_ARTICLE = re.compile(
    r"^(?:a little|a bit of|basic|an?|the|my|our|some|a los|a las|a la|al|un|una|el|la|los|las"
    r"|mi|mis) ",
    re.IGNORECASE,
)
_COUNTS = {
    word: str(number)
    for number, words in enumerate(
        "one|un|una two|dos three|tres four|cuatro five|cinco six|seis seven|siete eight|ocho "
        "nine|nueve ten|diez eleven|once twelve|doce".split(" "),
        1,
    )
    for word in words.split("|")
}
_NAMES = frozenset(("name", "preferred_name"))
"""What may be said beside anything else in one clause."""
_VERB = re.compile(r"\b(?:is|was|are|were|has|had|will|can|es|era|fue|está|tiene)\b")
_OF_THINGS = ("{thing}", "{thing}_{verb}")
_MATTERS_OF_TASTE = (
    "likes_", "eats_", "drinks_", "smokes", "vapes", "is_", "allergic_to_", "prefers_",
    "afraid_of_",
)  # fmt: skip
"""Of these `no longer` says that it is not so; of all else that it has ended."""
_DENIABLE = ("religion", "nationality", "origin", "trait", "identity", "job", "health", "on")
"""What may be denied without anything taking its place: `I'm not Catholic`."""
_JUDGED = frozenset(
    "good great bad terrible horrible better natural big decent amazing lousy slow fast former "
    "failed "
    "buen buena mal mala gran".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One claim, and the words it was made in."""

    attribute: str
    value: str
    words: str
    exclusive: bool = False
    polar: bool = False
    retracts: bool = False
    to_assistant: bool = False
    """Whether it is said to an assistant only, not between people."""
    is_event: bool = False
    """Whether what ended is told as an event."""
    dated: bool = False
    """Whether it is worth keeping only with the time at which it took place."""


def find(clause: str, book: Rulebook, *, sentence: str = "") -> Sequence[Finding]:
    """Return the claims of a clause, the exact patterns' before the loose ones'.

    `sentence` is the whole of which the clause is part, for patterns that read openers.
    """
    core = _core(clause, book)
    found = _unique(_matched(book.exact, core, clause, book, sentence))
    found = found or list(_denied(core, clause, book))
    if found and not all(finding.is_event for finding in found):
        return found
    return [*found, *_unique(_matched(book.loose, core, clause, book, sentence))[:1]]


def _core(clause: str, book: Rulebook) -> str:
    """Return what of a clause patterns read: no adverbial before it, no emoji after it."""
    core = _PICTURES.sub("", book.lead_in.sub("", clause))
    first, _, rest = core.partition(" ")
    if first.casefold() in book.grammar["adverbs"].split():
        return f"{first.casefold()} {rest}"
    return core


def _unique(found: Iterator[Finding]) -> list[Finding]:
    by_claim: dict[tuple[str, str], Finding] = {}
    for finding in found:
        if not (finding.exclusive and any(key[0] == finding.attribute for key in by_claim)):
            by_claim.setdefault((finding.attribute, finding.value), finding)
    return list(by_claim.values())


def _matched(
    patterns: Sequence[Pattern] | Iterator[Pattern],
    core: str,
    clause: str,
    book: Rulebook,
    sentence: str,
) -> Iterator[Finding]:
    is_passing = guards.is_passing(clause)
    has_found = False
    for pattern in patterns:
        read = sentence if pattern.whole else core
        match = pattern.match(read) if pattern.passing or not is_passing else None
        if match is not None:
            found = list(_findings(pattern, match, clause, book))
            yield from found if not (pattern.alone and has_found) else ()
            has_found = has_found or any(one.attribute not in _NAMES for one in found)


def _findings(
    pattern: Pattern, match: re.Match[str], clause: str, book: Rulebook
) -> Iterator[Finding]:
    groups = _groups(pattern, match)
    listed = groups["value"]
    for item in _LIST.split(listed) if pattern.many else (listed,):
        value = pattern.value.format(**{**groups, "value": item}).strip()
        if (pattern.many and item.startswith("not ")) or not _is_fit(pattern, value, groups, book):
            continue
        named = {name: slug(_ARTICLE.sub("", text)) for name, text in groups.items()}
        named["value"] = slug(_ARTICLE.sub("", item))
        yield Finding(
            attribute=pattern.attribute.format(**named),
            value=_polarity(pattern, value),
            words=_words(pattern, clause, groups, item),
            exclusive=pattern.exclusive or pattern.polar,
            polar=pattern.polar,
            retracts=pattern.ends,
            is_event=pattern.ends,
            to_assistant=pattern.to_assistant,
            dated=pattern.dated,
        )


def _words(pattern: Pattern, clause: str, groups: Mapping[str, str], item: str) -> str:
    if pattern.words:
        return pattern.words.format(**groups)
    return _with_item(clause, groups["value"], item) if pattern.many else clause


def _with_item(clause: str, listed: str, item: str) -> str:
    """Return the clause with one item in place of the list, if it can stand there alone."""
    if item.startswith(("a los ", "a las ", "a la ", "al ")):
        return clause
    head, _, tail = clause.partition(listed)
    return head + (item.removeprefix("the ") if head.endswith("the ") else item) + tail


def _groups(pattern: Pattern, match: re.Match[str]) -> dict[str, str]:
    groups = {name: _tidy(text or "") for name, text in match.groupdict().items()}
    groups = {name: pattern.fixed.get(text, text) for name, text in groups.items()}
    if pattern.place and (further := _FURTHER_PLACE.match(match.string[match.end("value") :])):
        groups["value"] += further.group()
    if "count" in groups:
        groups["count"] = _COUNTS.get(groups["count"].casefold(), groups["count"])
        groups["things"] = groups.get("things") or "children"
    groups.setdefault("value", "")
    return groups


def _tidy(text: str) -> str:
    """Take quotes, marks and pictures off both ends, and what only joins it to other words."""
    text = _PARTICLES.sub("", text)
    bare = re.sub(r"^[\s\"“”'«»*_]+|[\s\"“”«».,;:!*_\U00002190-\U0001faff\ufe0f\u200d]+$", "", text)
    return bare if _ARTICLE.sub("", f"{bare} ").strip() else text.strip()


def _is_fit(pattern: Pattern, value: str, groups: Mapping[str, str], book: Rulebook) -> bool:
    words = value.casefold().split()
    if not words or len(words) > _MAX_VALUE_WORDS:
        return False
    if pattern.context_free and _POINTING.search(value):
        return False
    if not _is_of_the_kind(pattern, value, groups, book):
        return False
    if not pattern.accepts:
        return True
    return words[-1].strip("'") in book.lists[pattern.accepts] and not _JUDGED.intersection(words)


def _is_of_the_kind(
    pattern: Pattern, value: str, groups: Mapping[str, str], book: Rulebook
) -> bool:
    """Whether words and thing are such as the pattern is about, and the value is none's opinion."""
    if pattern.rejects and _is_rejected(pattern.rejects, value, groups, book):
        return False
    if pattern.attribute not in _OF_THINGS or not pattern.fallback:
        return not pattern.solid or values.is_solid(value, book)
    thing = groups["thing"]
    if values.is_judged(value, book) or values.is_remote(thing, book) or _VERB.search(thing):
        return False
    return not pattern.solid or values.is_solid(value, book)


def _is_rejected(name: str, value: str, groups: Mapping[str, str], book: Rulebook) -> bool:
    told = groups.get("verb") if name == "no_habit" else groups.get("thing") or value
    return any(word.strip("'") in book.lists[name] for word in (told or "").casefold().split()[-1:])


def _polarity(pattern: Pattern, value: str) -> str:
    if not pattern.polar or value in (YES, NO):
        return value
    return NO if pattern.negative else YES


def _denied(core: str, clause: str, book: Rulebook) -> Iterator[Finding]:
    """Read `I no longer ...` and `I don't ...`: the same claim, denied or taken back."""
    match = book.negated.search(core)
    if match is None:
        return
    groups = match.groupdict()
    affirmed = f"{groups['subject'] or ''}{groups['link'] or ''} {groups['clause']}".strip()
    has_ended = bool(groups["ended"] or groups["anymore"])
    if groups.get("never"):
        affirmed = book.past.sub(lambda verb: book.grammar["presents"][verb[0]], affirmed)
    for finding in find(affirmed, book):
        if finding.retracts or finding.dated:
            continue
        if finding.polar and (not has_ended or finding.attribute.startswith(_MATTERS_OF_TASTE)):
            yield replace(finding, value=NO if finding.value == YES else YES, words=clause)
        elif has_ended:
            yield replace(finding, words=clause, retracts=True)
        elif finding.attribute in _DENIABLE:
            attribute = f"{finding.attribute}_{slug(finding.value)}"
            yield replace(finding, attribute=attribute, value=NO, words=clause, exclusive=True)
