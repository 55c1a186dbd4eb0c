"""Reading the rule files: one for each language, patterns as data."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from memory_server.providers.extraction.rules.pattern import Pattern

LANGUAGES = ("en", "es")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What one may ask to forget without saying its value, and the attributes it is kept under.

    Named groups of the expression fill the attributes.
    """

    say: re.Pattern[str]
    attributes: Sequence[str]
    all: bool = False
    """Whether every one of a kind is meant (`my allergies`), not the one that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """Everything written down for one language."""

    exact: Sequence[Pattern]
    loose: Sequence[Pattern]
    """Patterns that count when no exact one does; those that need a time come last."""
    matters: Sequence[Matter]
    breaks: re.Pattern[str]
    shared: re.Pattern[str]
    openers: re.Pattern[str]
    closers: re.Pattern[str]
    lead_in: re.Pattern[str]
    question_tail: re.Pattern[str]
    negated: re.Pattern[str]
    remember: re.Pattern[str]
    forget: re.Pattern[str]
    forget_last: re.Pattern[str]
    matters_break: re.Pattern[str]
    meant: re.Pattern[str]
    prelude: re.Pattern[str]
    told: re.Pattern[str]
    aside: re.Pattern[str]
    idioms: re.Pattern[str]
    mention: re.Pattern[str]
    they: re.Pattern[str]
    of_them: re.Pattern[str]
    chatter: re.Pattern[str]
    """Where a sentence turns from what it tells to something else."""
    complete: re.Pattern[str]
    """What has a verb already, so that something else may follow."""
    past: re.Pattern[str]
    """Verbs that `never` is said with in the past, whose present is in the grammar."""
    lists: Mapping[str, frozenset[str]]
    grammar: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What tells, in any of the languages, that a sentence is not to be taken at its word."""

    not_meant: re.Pattern[str]
    fiction: re.Pattern[str]
    secrets: re.Pattern[str]
    jokes: re.Pattern[str]
    reported: re.Pattern[str]
    tasks: re.Pattern[str]
    overrides: re.Pattern[str]
    passing: re.Pattern[str]
    games: re.Pattern[str]
    """A game in which `I` is somebody made up, until somebody is serious again."""
    serious: re.Pattern[str]
    affirmed: re.Pattern[str]
    denied: re.Pattern[str]
    """What takes back what the speaker said in their turn before, as a joke."""
    amused: re.Pattern[str]
    absurd: re.Pattern[str]
    """What nobody can be, own or live in, and none who says so is in earnest just then."""
    figurative: re.Pattern[str]
    """A plain form filled with what does not belong there: `allergic to Mondays`."""
    unlikely: re.Pattern[str]
    """What may well be true, unless it is laughed at."""


@cache
def rulebook(language: str) -> Rulebook:
    """Return the rules of a language, compiled on first use."""
    document = _document(language)
    parts = _resolved_parts(document["parts"])
    expressions = {
        name: re.compile(_filled(text, parts), re.IGNORECASE if name in _FOLDED else 0)
        for section in ("clauses", "requests")
        for name, text in document[section].items()
    }
    patterns = [_pattern(entry, parts) for entry in document["pattern"]]
    loose = [pattern for pattern in patterns if pattern.fallback]
    return Rulebook(
        exact=tuple(pattern for pattern in patterns if not pattern.fallback),
        loose=tuple(sorted(loose, key=lambda pattern: pattern.dated)),
        matters=tuple(_matter(entry) for entry in document["matter"]),
        lists={name: frozenset(text.split()) for name, text in document["lists"].items()},
        grammar=document["grammar"],
        **expressions,
    )


@cache
def guards() -> Guards:
    """Return the guards of all languages together: people mix languages."""
    words: dict[str, list[str]] = {}
    for document in map(_document, LANGUAGES):
        parts = _resolved_parts(document["parts"])
        for name, expressions in document["guards"].items():
            words.setdefault(name, []).extend(_worded(_filled(one, parts)) for one in expressions)
    return Guards(
        **{
            name: re.compile("|".join(each), re.IGNORECASE | re.MULTILINE)
            for name, each in words.items()
        }
    )


_FOLDED = frozenset(
    (
        "chatter",
        "complete",
        "openers",
        "closers",
        "remember",
        "forget",
        "forget_last",
        "matters_break",
        "meant",
        "question_tail",
        "negated",
        "prelude",
        "told",
        "idioms",
    )
)


@cache
def _document(language: str) -> Mapping[str, Any]:
    source = resources.files("memory_server.providers.extraction.rules") / f"{language}.toml"
    return tomllib.loads(source.read_text(encoding="utf-8"))


def _resolved_parts(parts: Mapping[str, str]) -> dict[str, str]:
    """Fill parts into parts, in the order in which they are written."""
    resolved: dict[str, str] = {}
    for name, text in parts.items():
        resolved[name] = _filled(text, resolved)
    return resolved


def _filled(text: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda match: parts.get(match[1], match[0]), text)


def _pattern(entry: Mapping[str, Any], parts: Mapping[str, str]) -> Pattern:
    texts = [_filled(text, parts) for text in entry["say"]]
    heads = [_heads(text) for text in texts]
    return Pattern(
        **{
            **entry,
            "say": tuple(re.compile(text) for text in texts),
            "heads": "".join(heads) if all(heads) and not entry.get("whole") else "",
        }
    )


def _heads(expression: str) -> str:
    """Return the letters that a match of the expression begins with, as far as that is plain."""
    for beginning, letters in _BEGINNINGS:
        if expression.startswith(beginning):
            return letters
    return ""


_BEGINNINGS = (
    ("^(?:I|[Ww]e)", "IWw"),
    ("^(?:(?:I|[Ww]e)", "IWw"),
    ("^(?:I am|I'm|[Ww]e", "IWw"),
    ("^(?:(?:I am|I'm|[Ww]e", "IWw"),
    ("^(?:I've been|", "IWw"),
    ("^(?:I'm|I am)", "I"),
    ("^I", "I"),
    ("^(?:[Mm]y|[Oo]ur)", "MmOo"),
    ("^[Mm]y ", "Mm"),
    ("^[Mm]i ", "Mm"),
    ("^(?:[Mm]i|[Nn]uestr[oa])", "MmNn"),
    ("^[Mm]is ", "Mm"),
    ("^(?:[Aa] mí )?[Mm]e ", "AaMm"),
)
"""How expressions begin, and the letters that stands for."""


def _matter(entry: Mapping[str, Any]) -> Matter:
    return Matter(
        say=re.compile(f"^(?:{entry['say']})$", re.IGNORECASE),
        attributes=entry["attributes"],
        all=entry.get("all", False),
    )


def _worded(word: str) -> str:
    """Bound a word that brings no anchors of its own."""
    return word if word.startswith(("^", r"\b", "<", "(?:^", "[")) else rf"(?<!\w)(?:{word})(?!\w)"
