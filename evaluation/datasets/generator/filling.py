"""Sessions about anything, which fill the histories of one seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from evaluation.datasets.generator.drafts import Desk, Said
from evaluation.datasets.generator.grammar import Attribute, Event, Grammar, Tally
from evaluation.datasets.generator.pen import Pen
from evaluation.datasets.generator.talk import Length, write_session
from evaluation.datasets.generator.temporal import LATEST_TOLD, when

POOL: Final = 1200
"""Fillings of one seed; each history takes another part of them."""

_OWN: Final = 0.3
"""Share of fillings in which the user says something of themselves."""
_OTHERS: Final = 0.25
"""Share in which they say something of somebody else; the rest is chat alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """One session that holds nothing that is asked for."""

    id: str
    messages: Sequence[Mapping[str, Any]]
    key: str = ""
    """What of the grammar it speaks of; nothing where it is chat alone."""
    is_own: bool = False
    """Whether the user says it of themselves: once in a history, or they contradict themselves."""


class Fillings:
    """The fillings of one seed, written when they are first asked for."""

    def __init__(self, grammar: Grammar, length: Length, seed: str) -> None:
        self._grammar = grammar
        self._length = length
        self._seed = seed
        self._written: dict[int, Filling] = {}

    def __getitem__(self, number: int) -> Filling:
        if number not in self._written:
            self._written[number] = self._write(number)
        return self._written[number]

    def _write(self, number: int) -> Filling:
        pen = Pen(self._grammar, Random(f"{self._seed}/{number}"))  # noqa: S311 no secret
        draw = pen.chance.random()
        is_own = draw < _OWN
        key, said = _said(Desk(pen), is_own=is_own)
        if draw >= _OWN + _OTHERS:
            key, said = "", Said(topic=said.topic)
        messages, _ = write_session(pen, self._length, said)
        return Filling(id=_id(pen, is_chat=not key), messages=messages, key=key, is_own=is_own)


def _id(pen: Pen, *, is_chat: bool) -> str:
    if is_chat:
        return f"chat_{pen.chance.getrandbits(24):06x}_{pen.chance.randrange(90)}"
    return f"{pen.chance.getrandbits(32):08x}_{pen.chance.randint(1, 4)}"


def _said(desk: Desk, *, is_own: bool) -> tuple[str, Said]:
    """Return something that the user says of themselves, or of somebody else, and its key."""
    grammar, pen = desk.pen.grammar, desk.pen
    kinds: Sequence[Attribute | Tally | Event]
    kinds = (*grammar.attributes, *grammar.tallies, *grammar.events)
    kind = pen.pick(kinds)
    slots = {}
    match kind:
        case Attribute():
            slots["value"] = pen.write(kind.value)
        case Tally():
            slots["item"], _ = desk.counted(kind, ())
            slots["amount"] = slots["item"]
        case Event():
            days = pen.pick(range(LATEST_TOLD))
            slots["when"] = when(desk, desk.today - timedelta(days=days), days)
    fact = pen.write(
        pen.pick(kind.said if is_own else kind.others), grammar.topics[kind.topic], **slots
    )
    return kind.key, Said(topic=kind.topic, about=kind.about, fact=fact)
