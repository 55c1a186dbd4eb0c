"""Exchanges: what was said paired with the reply to it, seen by each who took part.

Blocks are memories: see `memory.Block`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import groupby
from json import dumps
from typing import Any, TypeVar

from memory_server.domain.calendar import in_words
from memory_server.domain.exchange import Said, Viewpoint
from memory_server.domain.memory import Block, EventTime
from memory_server.domain.source_times import source_time
from memory_server.domain.turn import Role, speaker_of

T = TypeVar("T")

RESERVED = ("time", "conversation_id")
"""Annotations that the server writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing that was said."""

    id: str | None = None
    """The source's own; None: it is named by its place in the exchange."""
    role: Role
    """Of the user or the assistant."""
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """The name shown for the speaker: the source's own, else the role."""
        return speaker_of(self.metadata, self.role.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a user said and the reply to it; one of the two may be missing."""

    messages: Sequence[Message]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What its first message says of itself, but for who spoke."""
        first = self.messages[0].metadata
        return {name: value for name, value in first.items() if name != "speaker"}

    def said_at(self, otherwise: Mapping[str, Any]) -> datetime | None:
        """Return when it began, as its messages tell it, or else this metadata; None: unknown."""
        told = (source_time(said.metadata, said.content) for said in self.messages)
        known = (moment for moment in told if moment is not None)
        return next(known, None) or source_time(otherwise, "")

    def speaker(self, viewpoint: Viewpoint) -> str | None:
        """Return the name of whose view it is; None: they said nothing here."""
        names = dict.fromkeys(said.speaker for said in self.messages if viewpoint.is_of(said.role))
        return " and ".join(names) or None


def pair(messages: Sequence[Message]) -> Iterator[Exchange]:
    """Yield the exchanges of a conversation: whatever a user said on end, and all replies to it.

    A reply to nothing, at the beginning, and what was not replied to, at the end, stand alone.
    """
    runs = [tuple(run) for _, run in groupby(messages, key=lambda said: said.role)]
    while runs:
        asked = runs.pop(0)
        is_answered = asked[0].role is Role.USER and runs
        yield Exchange(messages=(*asked, *(runs.pop(0) if is_answered else ())))


def blocks_of(
    exchange: Exchange,
    *,
    exchange_id: str,
    conversation_id: str,
    position: int,
    viewpoints: Sequence[Viewpoint],
    said_at: datetime | None,
    annotations: Mapping[str, Any],
    context_required: bool,
) -> Iterator[Block]:
    """Yield an exchange's blocks, one for each viewpoint that somebody has in it."""
    own = {"conversation_id": conversation_id}
    if said_at is not None:
        own["time"] = in_words(said_at)
    for viewpoint in viewpoints:
        speaker = exchange.speaker(viewpoint)
        if speaker is not None:
            yield Block(
                exchange_id=exchange_id,
                viewpoint=viewpoint,
                speaker=speaker,
                conversation_id=conversation_id,
                position=position,
                messages=tuple(_said(exchange_id, exchange.messages)),
                annotations={**annotations, **own},
                context_required=context_required,
            )


def block_id(exchange_id: str, viewpoint: str) -> str:
    """Return the id of an exchange's block: `exchange_of` reads the exchange from it."""
    return f"{exchange_id}.{viewpoint}"


def exchange_of(memory_id: str) -> str:
    """Return the exchange of a block."""
    return memory_id.rpartition(".")[0] or memory_id


def each_once(found: Iterable[T], ids: Iterable[str]) -> list[T]:
    """Return the first of what was found of each exchange; `ids` are those of their blocks."""
    first: dict[str, T] = {}
    for one, memory_id in zip(found, ids, strict=True):
        first.setdefault(exchange_of(memory_id), one)
    return list(first.values())


def exchange_id_of_key(owner: Sequence[str | None], key: str, number: int) -> str:
    """Return the id of the exchange of that number, stored under a key of its owner's."""
    named = dumps([*owner, key, number])
    return blake2b(named.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def event_time(said_at: datetime | None) -> EventTime | None:
    """Return when an exchange took place; it is given a minute."""
    if said_at is None:
        return None
    return EventTime(start=said_at, end=said_at + timedelta(minutes=1), words=in_words(said_at))


def _said(exchange_id: str, messages: Sequence[Message]) -> Iterator[Said]:
    for position, message in enumerate(messages, 1):
        yield Said(
            id=message.id or f"{exchange_id}/{position}",
            role=message.role,
            speaker=message.speaker,
            content=message.content,
            position=position,
        )
