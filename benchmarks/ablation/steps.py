"""The orders that are compared: the shipped one, and that without or with one step more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memory_server.domain.block import each_once
from memory_server.domain.chunk import Chunk
from memory_server.domain.memory import Memory
from memory_server.domain.ranking import (
    HYBRID,
    Legs,
    Ranked,
    Weights,
    asks_for_present,
    fuse,
    prefer_recent,
)
from memory_server.domain.reading import chunk_of_memory, chunk_of_turn
from memory_server.domain.relevance import CANDIDATES, PARTS, Parts, by_evidence
from memory_server.domain.turn import Turn
from memory_server.domain.utterance import Utterance

TOP = 40
"""Finds that are asked for: as many as a rerank looks at."""

Stored = Turn | Memory


class Unit(StrEnum):
    """What one find is."""

    TURNS = "turns"
    BLOCKS = "blocks"


class Words(StrEnum):
    """How the leg of words is asked."""

    SHIPPED = "shipped"
    EVERY_WORD = "every word of the question"
    WITHOUT_NEIGHBOURS = "an index without neighbours"
    BARE = "an index without dates and speakers"


class Meaning(StrEnum):
    """Which vectors the leg of meaning compares."""

    SHIPPED = "shipped"
    ALONE = "of each turn alone"
    AVERAGED = "averaged with the neighbours'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One order of finds; what is not named is as it is shipped."""

    name: str
    words: Words | None = Words.SHIPPED
    """None: the leg is not asked."""
    meaning: Meaning | None = Meaning.SHIPPED
    weights: Weights = HYBRID
    parts: Parts | None = PARTS
    """Of the score by evidence; None: the fusion's order stays."""
    prefers_recent: bool = True
    """Where a question asks for the present."""
    reranks: bool = False


SHIPPED = Step(name="as shipped")
RECENCY = Step(name="the recent not preferred", prefers_recent=False)
RERANKED = Step(name="best 40 reranked by the built-in model", reranks=True)


def steps_of(unit: Unit, *, reranks: bool) -> Sequence[Step]:
    """Return what is compared for a unit, the shipped order first."""
    steps = [
        SHIPPED,
        Step(name="words alone", meaning=None),
        Step(name="meaning alone", words=None),
        Step(
            name="fusion of both, 0.3 of meaning", weights=Weights(vector=0.3, text=0.7), parts=None
        ),
        Step(name="fusion of both, 0.4 of meaning: evidence not weighed", parts=None),
        Step(
            name="fusion of both, 0.5 of meaning", weights=Weights(vector=0.5, text=0.5), parts=None
        ),
        Step(name="question words searched too", words=Words.EVERY_WORD),
        Step(name="neighbours not in the index", words=Words.WITHOUT_NEIGHBOURS),
        Step(name="date and speaker not in the index", words=Words.BARE),
        *_other_vectors(unit),
        Step(name="evidence without session", parts=replace(PARTS, session=0.0)),
        Step(name="evidence without who is asked about", parts=replace(PARTS, asked=0.0)),
        Step(name="evidence without how much is told", parts=replace(PARTS, told=0.0, asking=0.0)),
        Step(name="evidence without times", parts=replace(PARTS, time=0.0)),
        RECENCY,
    ]
    return [*steps, RERANKED] if reranks else steps


def _other_vectors(unit: Unit) -> Sequence[Step]:
    averaged = Step(name="vectors averaged with neighbours'", meaning=Meaning.AVERAGED)
    if unit is Unit.BLOCKS:
        # Exchanges are embedded alone as it is.
        return [averaged]
    return [Step(name="vectors of turns alone", meaning=Meaning.ALONE), averaged]


def found_by(
    step: Step,
    query: str,
    legs: Legs,
    stored: Mapping[str, Stored],
    said: Mapping[str, Utterance],
) -> Sequence[Chunk]:
    """Return the best `TOP` finds in a step's order, but for a rerank.

    `stored` holds what can be found, `said` what it says, both by id.
    """
    ranked: Sequence[Ranked] = fuse(legs, weights=step.weights)
    if step.parts is not None and legs.are_both:
        best = [said[one.id] for one in ranked[:CANDIDATES]]
        ranked = by_evidence(query, best, legs, parts=step.parts)
    if any(isinstance(stored[one.id], Memory) for one in ranked[:1]):
        ranked = each_once(ranked, (one.id for one in ranked))
    chunks = [_chunk(stored[one.id], one.score) for one in ranked[:TOP]]
    if step.prefers_recent and asks_for_present(query):
        return prefer_recent(chunks)
    return chunks


def _chunk(stored: Stored, score: float) -> Chunk:
    if isinstance(stored, Turn):
        return chunk_of_turn(stored, score)
    return chunk_of_memory(stored, score)
