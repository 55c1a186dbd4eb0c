"""Turns that are found by what was said around them.

The index for words holds each turn's own words. What was said within two turns by the same user in
the same session is looked up after the search, and counts as in the local index: 0.3 of it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.ports.search import Hit
from memory_server.search.atlas.merging import ordered
from memory_server.search.local.documents import REACH

WEIGHT = 0.3

SPREAD = 100
"""How many of the best finds their neighbours are found by."""

Session = tuple[str, str | None]
"""A session, and whose turns of it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, and how well its own words match."""

    id: str
    session: Session
    turn_seq: int
    score: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Said":
        """Return a turn of a search's answer, or of a plain query's."""
        session = (row["session_id"], row.get("user_id"))
        return cls(row["id"], session, int(row["turn_seq"]), float(row.get("score", 0.0)))


def around(speaking: Sequence[Said]) -> dict[str, Any] | None:
    """Return the condition for all turns near these; None: there are none."""
    positions: defaultdict[Session, set[int]] = defaultdict(set)
    for said in speaking[:SPREAD]:
        near = range(said.turn_seq - REACH, said.turn_seq + REACH + 1)
        positions[said.session].update(near)
    places = [
        {"session_id": session_id, "user_id": user_id, "turn_seq": {"$in": sorted(numbers)}}
        for (session_id, user_id), numbers in positions.items()
    ]
    return {"$or": places} if places else None


def heard(found: Sequence[Said], speaking: Sequence[Said], near: Sequence[Said]) -> list[Hit]:
    """Return the turns that were found and those that are near what speaks, in their order.

    `found` and `near` pass the whole selection; `speaking` are turns of the same scope whose words
    match, whatever else was asked.
    """
    scores = {(*said.session, said.turn_seq): said.score for said in speaking[:SPREAD]}
    turns = {said.id: said for said in (*near, *found)}
    hits = (Hit(said.id, said.score + WEIGHT * _nearby(said, scores)) for said in turns.values())
    return ordered([hit for hit in hits if hit.score > 0])


def _nearby(said: Said, scores: Mapping[tuple[str, str | None, int], float]) -> float:
    """Return the best of what was said around a turn."""
    distances = (*range(-REACH, 0), *range(1, REACH + 1))
    return max(scores.get((*said.session, said.turn_seq + one), 0.0) for one in distances)
