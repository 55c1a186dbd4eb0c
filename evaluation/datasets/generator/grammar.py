"""What generated people talk about: topics, facts, events and sentences, as data files say them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent / "grammar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a session is about."""

    goals: Sequence[str]
    things: Sequence[str]

    def near(self, about: Sequence[str]) -> "Topic":
        """Return the topic in which these things come up too."""
        return Topic(goals=self.goals, things=(*self.things, *about))

    def only(self, about: Sequence[str]) -> "Topic":
        """Return the topic in which nothing but these things comes up, where there are any."""
        return Topic(goals=self.goals, things=about or self.things)


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """Something that nobody ever says, near to what is said."""

    label: str
    """What is said, as the assistant names it."""
    absent: str
    absent_asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute(Absent):
    """A fact about the user that has one value at a time, and may change."""

    key: str
    topic: str
    about: Sequence[str]
    """Things that the chat around it is about."""
    value: str
    said: Sequence[str]
    changed: Sequence[str]
    asked: Sequence[str]
    others: Sequence[str]
    """The same of somebody else: near in words, and no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally(Absent):
    """Things told one by one in several sessions, which a question counts or adds up."""

    key: str
    topic: str
    about: Sequence[str]
    said: Sequence[str]
    asked: Sequence[str]
    others: Sequence[str]
    counts: str = ""
    """What is counted, each time another."""
    sums: Sequence[int] = ()
    """Least, most and step of the amounts that are added up."""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened on a day, said in other words than it is asked for."""

    key: str
    topic: str
    about: Sequence[str]
    noun: str
    did: str
    said: Sequence[str]
    others: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A numbered list that the assistant gives, of which one entry is asked for."""

    key: str
    topic: str
    item: str
    ask: Sequence[str]
    recalled: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taste:
    """What the user likes and does not, which a good proposal takes into account."""

    key: str
    topic: str
    about: Sequence[str]
    said: Sequence[str]
    asked: Sequence[str]
    wants: str
    avoids: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Everything of one language."""

    topics: Mapping[str, Topic]
    attributes: Sequence[Attribute]
    tallies: Sequence[Tally]
    events: Sequence[Event]
    listings: Sequence[Listing]
    tastes: Sequence[Taste]
    words: Mapping[str, Sequence[str]]
    phrases: Mapping[str, Any]


@cache
def read_grammar(language: str) -> Grammar:
    """Read the data files of a language."""

    def part(name: str) -> Any:
        return json.loads((_FOLDER / language / f"{name}.json").read_text(encoding="utf-8"))

    return Grammar(
        topics={key: Topic(**topic) for key, topic in part("topics").items()},
        attributes=[Attribute(**entry) for entry in part("attributes")],
        tallies=[Tally(**entry) for entry in part("tallies")],
        events=[Event(**entry) for entry in part("events")],
        listings=[Listing(**entry) for entry in part("listings")],
        tastes=[Taste(**entry) for entry in part("tastes")],
        words=part("words"),
        phrases=part("phrases"),
    )
