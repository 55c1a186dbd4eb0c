"""Questions about when things happened, which were told on another day and in other words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from evaluation.datasets.generator.drafts import MOST_DECOYS, Desk, Draft, Said
from evaluation.datasets.generator.grammar import Event

EARLIEST: Final = 110
"""Days before the question."""
LATEST_TOLD: Final = 6
"""Days between an event and the session that tells it, at most."""

_SHAPES: Final = ("between", "between", "ago", "ago", "first", "first", "order", "date")
_EVENTS: Final[Mapping[str, int]] = {"between": 2, "ago": 1, "first": 2, "order": 3, "date": 1}


@dataclass(frozen=True, slots=True)
class _Happened:
    event: Event
    day: date


def draft_temporal(desk: Desk, *, is_abstention: bool) -> Draft:
    """Write a question about one, two or three dated events."""
    shape = "between" if is_abstention else desk.pen.pick(_SHAPES)
    count = 1 if is_abstention else _EVENTS[shape]
    events = desk.pen.chance.sample(desk.pen.grammar.events, count)
    evidence, happened = [], []
    for event, days_ago in zip(events, desk.days_ago(3, EARLIEST, count), strict=True):
        told_after = desk.pen.pick((0, 0, 1, 1, 2, 3, LATEST_TOLD))
        told = max(0, days_ago - told_after)
        day = desk.today - timedelta(days=days_ago)
        fact = desk.pen.write(desk.pen.pick(event.said), when=when(desk, day, days_ago - told))
        evidence.append((desk.moment(told), Said(topic=event.topic, about=event.about, fact=fact)))
        happened.append(_Happened(event, day))
    question, answer = _absent(desk, happened) if is_abstention else _ASK[shape](desk, happened)
    keys = [event.key for event in events]
    return desk.draft(question, answer, evidence, keys, _decoys(desk, events))


def when(desk: Desk, day: date, days_later: int) -> str:
    """Say a day as somebody does who speaks of it that many days later."""
    phrases, words = desk.phrases["when"], desk.pen.grammar.words
    kinds = ["today"] if days_later == 0 else ["yesterday"] if days_later == 1 else ["days_ago"]
    kinds.append("date")
    if days_later > 1:
        kinds.append("weekday")
    return desk.pen.write(
        desk.pen.pick(phrases[desk.pen.pick(kinds)]),
        days=str(days_later),
        weekday=words["weekdays"][day.weekday()],
        month=words["months"][day.month - 1],
        day=str(day.day),
    )


def _decoys(desk: Desk, events: Sequence[Event]) -> Sequence[Said]:
    """Let others tell of the same kind of event, of a day of their own."""
    decoys = []
    for number in range(MOST_DECOYS):
        event = events[number % len(events)]
        days = desk.pen.pick(range(LATEST_TOLD))
        # The day is only said, never reckoned with: whichever weekday or date it names will do.
        day = desk.today - timedelta(days=desk.pen.pick(range(EARLIEST)))
        fact = desk.pen.write(desk.pen.pick(event.others), when=when(desk, day, days))
        decoys.append(Said(topic=event.topic, about=event.about, fact=fact))
    return decoys


def _absent(desk: Desk, happened: Sequence[_Happened]) -> tuple[str, str]:
    noun, absent = happened[0].event.noun, str(desk.phrases["absent_event"])
    question = desk.pen.phrase("between", a=noun, b=absent)
    return question, desk.absent(noun, absent)


def _between(desk: Desk, happened: Sequence[_Happened]) -> tuple[str, str]:
    first, second = happened
    days = (second.day - first.day).days
    question = desk.pen.phrase("between", a=first.event.noun, b=second.event.noun)
    return question, _days(desk, days)


def _ago(desk: Desk, happened: Sequence[_Happened]) -> tuple[str, str]:
    [one] = happened
    days = (desk.today - one.day).days
    question = desk.pen.phrase("ago", a=one.event.noun, did=one.event.did)
    return question, _days(desk, days)


def _first(desk: Desk, happened: Sequence[_Happened]) -> tuple[str, str]:
    nouns = [one.event.noun for one in happened]
    shuffled = desk.pen.chance.sample(nouns, 2)
    return desk.pen.phrase("first", a=shuffled[0], b=shuffled[1]), nouns[0]


def _order(desk: Desk, happened: Sequence[_Happened]) -> tuple[str, str]:
    nouns = [one.event.noun for one in happened]
    shuffled = desk.pen.chance.sample(nouns, len(nouns))
    listed = desk.phrases["list_join"].join(shuffled[:-1]) + desk.phrases["list_last"]
    answer = desk.pen.write(
        desk.phrases["order_answer"], list=desk.phrases["order_join"].join(nouns)
    )
    return desk.pen.phrase("order", list=listed + shuffled[-1]), answer


def _date(desk: Desk, happened: Sequence[_Happened]) -> tuple[str, str]:
    [one] = happened
    answer = desk.pen.write(
        desk.phrases["date_answer"],
        month=desk.pen.grammar.words["months"][one.day.month - 1],
        day=str(one.day.day),
        year=str(one.day.year),
    )
    return desk.pen.phrase("date", a=one.event.noun, did=one.event.did), answer


def _days(desk: Desk, days: int) -> str:
    return desk.pen.write(desk.phrases["days_also"], days=str(days), more=str(days + 1))


_Asking = Callable[[Desk, Sequence[_Happened]], tuple[str, str]]
_ASK: Final[Mapping[str, _Asking]] = {
    "between": _between,
    "ago": _ago,
    "first": _first,
    "order": _order,
    "date": _date,
}
