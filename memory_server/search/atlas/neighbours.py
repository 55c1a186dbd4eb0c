"""Turns and exchanges that are found by what was said around them.

The index for words holds each turn's own words. What was said within two turns by the same user in
the same session is looked up after the search, and counts as in the local index: 0.3 of it. So is
what was said in the exchanges before and after one, from the same viewpoint.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.chunk import Source
from memory_server.ports.search import Hit
from memory_server.search.atlas.merging import ordered
from memory_server.search.local.documents import REACH, REACH_OF_BLOCKS

WEIGHT = 0.3

SPREAD = 100
"""How many of the best finds their neighbours are found by."""

Session = tuple[str, str | None, str | None]
"""A session, whose turns of it, and of exchanges from which viewpoint."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """What counts as near."""

    field: str
    """Where the number in the session stands."""
    reach: int


NEARNESS: Mapping[Source, Nearness] = {
    Source.STM: Nearness("turn_seq", REACH),
    Source.BLOCK: Nearness("position", REACH_OF_BLOCKS),
}


@dataclass(frozen=True, slots=True)
class Said:
    """A turn or an exchange, and how well its own words match."""

    id: str
    session: Session
    position: int
    score: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Said":
        """Return a turn of a search's answer, or of a plain query's."""
        session = (row["session_id"], row.get("user_id"), row.get("viewpoint"))
        position = row["turn_seq"] if "turn_seq" in row else row["position"]
        return cls(row["id"], session, int(position), float(row.get("score", 0.0)))


def around(speaking: Sequence[Said], nearness: Nearness) -> dict[str, Any] | None:
    """Return the condition for all turns near these; None: there are none."""
    positions: defaultdict[Session, set[int]] = defaultdict(set)
    for said in speaking[:SPREAD]:
        near = range(said.position - nearness.reach, said.position + nearness.reach + 1)
        positions[said.session].update(near)
    places = [
        {
            "session_id": session_id,
            "user_id": user_id,
            **({} if viewpoint is None else {"viewpoint": viewpoint}),
            nearness.field: {"$in": sorted(numbers)},
        }
        for (session_id, user_id, viewpoint), numbers in positions.items()
    ]
    return {"$or": places} if places else None


def heard(
    found: Sequence[Said], speaking: Sequence[Said], near: Sequence[Said], nearness: Nearness
) -> list[Hit]:
    """Return the turns that were found and those that are near what speaks, in their order.

    `found` and `near` pass the whole selection; `speaking` are turns of the same scope whose words
    match, whatever else was asked.
    """
    scores = {(said.session, said.position): said.score for said in speaking[:SPREAD]}
    turns = {said.id: said for said in (*near, *found)}
    reach = nearness.reach
    hits = (
        Hit(said.id, said.score + WEIGHT * _nearby(said, scores, reach)) for said in turns.values()
    )
    return ordered([hit for hit in hits if hit.score > 0])


def _nearby(said: Said, scores: Mapping[tuple[Session, int], float], reach: int) -> float:
    """Return the best of what was said around a turn."""
    distances = (*range(-reach, 0), *range(1, reach + 1))
    return max(scores.get((said.session, said.position + one), 0.0) for one in distances)
