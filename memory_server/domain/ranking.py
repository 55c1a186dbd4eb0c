"""From what the legs of a search found to one order.

Scores are anchored absolutely, never to the other finds of the same list, so that a score
means the same in every source and every request of one mode: clients merge several searches
by it. A cosine is measured between what unrelated texts have in its space and what equal
ones have. BM25 has no such anchors; it is measured against the best find, and the best find
by how much of the query it covers.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.embedding import EmbeddingSpace

RECENCY = 0.2
"""Share of its score that the oldest find loses when the query asks for the present."""

LONG = 10_000
"""Characters from which only equal texts repeat each other: reading longer ones takes too long."""

_PRESENT = re.compile(
    r"\b(?:now|nowadays|current|currently|latest|presently|these days|most recent(?:ly)?"
    r"|at the moment|as of today|ahora|actualmente|hoy en d[ií]a)\b",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"[.,]?\d+(?:[.,:/]\d+)*|\w+(?:'\w+)*|[^\w\s.,;:\"]")
"""A number with its marks, a word with its apostrophes, or a sign that says something."""
_ARTICLES = re.compile(r"\b(?:an?|the)\s+(?=\w)")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_TELLING_APART = ("procedure", "event_time")
"""Fields in which chunks of one text may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each leg of a hybrid search counts.

    By measurement: over turns whose index has their neighbours' words, recall@10 is flat from
    0.3 to 0.5 of the vector leg and falls outside.
    """

    vector: float = 0.4
    text: float = 0.6


HYBRID = Weights()


_UNFOUND = float("-inf")
"""The raw score in a leg of what it did not find."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One find with its score, 0 to 1."""

    id: str
    score: float


def coverage(terms: Collection[str], words: Collection[str]) -> float:
    """Return the share of distinct query terms among a text's words; 0 where there are no terms."""
    distinct = set(terms)
    return len(distinct & set(words)) / len(distinct) if distinct else 0.0


def normalise_text(hits: Mapping[str, float], covered: float) -> dict[str, float]:
    """Return BM25 scores as 0 to 1: the best find has `covered`, the others their part of it."""
    best = max(hits.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(hits, 0.0)
    return {name: max(score, 0.0) / best * covered for name, score in hits.items()}


def normalise_vector(hits: Mapping[str, float], space: EmbeddingSpace) -> dict[str, float]:
    """Return cosines as 0 to 1 between the space's `unrelated` and `same`."""
    width = space.same - space.unrelated
    return {
        name: min(max((cosine - space.unrelated) / width, 0.0), 1.0)
        for name, cosine in hits.items()
    }


@dataclass(frozen=True, kw_only=True)
class Legs:
    """What the legs of a search found in one source; a leg that was not asked is None.

    `text` holds BM25 by id, `vector` cosines by id in `space`. `covered` is the share of the query
    that the best find by words covers.
    """

    text: Mapping[str, float] | None = None
    vector: Mapping[str, float] | None = None
    covered: float = 1.0
    space: EmbeddingSpace | None = None

    @property
    def are_both(self) -> bool:
        """Whether both were asked."""
        return self.text is not None and self.vector is not None

    @cached_property
    def words(self) -> Mapping[str, float]:
        """The finds by words, 0 to 1."""
        return normalise_text(self.text or {}, self.covered)

    @cached_property
    def meaning(self) -> Mapping[str, float]:
        """The finds by meaning, 0 to 1."""
        return normalise_vector(self.vector or {}, self.space) if self.space else {}


def fuse(legs: Legs, *, weights: Weights = HYBRID) -> list[Ranked]:
    """Return the finds of one source, the best first: the weighted sum of the normalised legs.

    Where one leg was asked, it counts alone. A find missing from a leg has 0 there. Equal scores
    are told apart by the raw ones, which clipping does not touch, then by id.
    """
    scores: dict[str, float] = {}
    for leg, share in _shares(legs, weights):
        for name, score in leg.items():
            scores[name] = scores.get(name, 0.0) + score * share
    vector, text = legs.vector or {}, legs.text or {}
    order = sorted(
        (-score, -vector.get(name, _UNFOUND), -text.get(name, _UNFOUND), name)
        for name, score in scores.items()
    )
    return [Ranked(name, -score) for score, _, _, name in order]


def merge_sources(sources: Iterable[Sequence[Chunk]]) -> list[Chunk]:
    """Return the chunks of several sources in one order.

    Chunks without a score (turns that were asked for as they stand) come first and keep their
    order; the rest follow by score, ties by source and id.
    """
    chunks = [chunk for source in sources for chunk in source]
    unranked = [chunk for chunk in chunks if chunk.score is None]
    ranked = [chunk for chunk in chunks if chunk.score is not None]
    return unranked + sorted(ranked, key=_rank)


def drop_near_duplicates(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks without those that repeat a better one, in the order given.

    A repeat says the same words, numbers and signs in the same order, whatever its articles and
    punctuation: a single other word may say the opposite. Letter case tells texts apart, but at
    the beginning. Procedures of two names, and what happened at two times, are no repeats.
    Turns and exchanges are a record of what was said, and all stay.
    """
    kept: dict[tuple[str, ...], list[Chunk]] = {}
    dropped = set()
    for chunk in sorted(chunks, key=_rank):
        if chunk.source in (Source.STM, Source.BLOCK):
            continue
        alike = kept.setdefault(_said(chunk.content), [])
        if any(_may_repeat(chunk, other) for other in alike):
            dropped.add(id(chunk))
        else:
            alike.append(chunk)
    return [chunk for chunk in chunks if id(chunk) not in dropped]


def reorder(
    chunks: Sequence[Chunk], relevance: Sequence[float | None], *, weight: float
) -> list[Chunk]:
    """Return the chunks by what a reranker says of each, with its word as `rerank_score`.

    Both judgements are stretched from 0 to 1 over these chunks; the reranker's counts `weight`,
    the search's the rest. Of None it said nothing, which is 0. Ties keep their order.
    """
    said = _stretched(relevance)
    before = _stretched([chunk.score for chunk in chunks])
    total = [weight * new + (1 - weight) * old for new, old in zip(said, before, strict=True)]
    order = sorted(range(len(chunks)), key=lambda place: -total[place])
    return [_judged(chunks[place], relevance[place]) for place in order]


def _stretched(scores: Sequence[float | None]) -> list[float]:
    """Return the scores from 0 to 1; where all are equal, each is 1. None is 0."""
    known = [score for score in scores if score is not None]
    lowest, highest = min(known, default=0.0), max(known, default=0.0)
    width = highest - lowest
    return [
        0.0 if score is None else (score - lowest) / width if width else 1.0 for score in scores
    ]


def _judged(chunk: Chunk, relevance: float | None) -> Chunk:
    if relevance is None:
        return chunk
    return replace(chunk, metadata={**chunk.metadata, "rerank_score": relevance})


def asks_for_present(query: str) -> bool:
    """Return whether a query wants what holds now rather than what held once."""
    return _PRESENT.search(query) is not None


def prefer_recent(chunks: Sequence[Chunk], *, strength: float = RECENCY) -> list[Chunk]:
    """Return scored chunks in a new order: older ones lose up to `strength` of their score.

    The newest keeps its score, the oldest loses all of `strength`, the others by their place
    in time between the two.
    """
    if not chunks:
        return []
    moments = [chunk.timestamp.timestamp() for chunk in chunks]
    newest, span = max(moments), max(moments) - min(moments)
    aged = [
        _aged(chunk, strength * (newest - moment) / span if span else 0.0)
        for chunk, moment in zip(chunks, moments, strict=True)
    ]
    return sorted(aged, key=_rank)


def _aged(chunk: Chunk, loss: float) -> Chunk:
    return chunk if chunk.score is None else replace(chunk, score=chunk.score * (1 - loss))


def _shares(legs: Legs, weights: Weights) -> list[tuple[Mapping[str, float], float]]:
    asked = [
        (legs.words, weights.text, legs.text is not None),
        (legs.meaning, weights.vector, legs.vector is not None and legs.space is not None),
    ]
    total = sum(weight for _, weight, was_asked in asked if was_asked)
    return [(leg, weight / total) for leg, weight, was_asked in asked if was_asked]


def _rank(chunk: Chunk) -> tuple[float, str, str]:
    return -(chunk.score or 0.0), chunk.source.value, chunk.id


def _said(content: str) -> tuple[str, ...]:
    """Return the words, numbers and signs of a text that say something, in their order."""
    if len(content) > LONG:
        return (content,)
    plain = unicodedata.normalize("NFKC", content).translate(_QUOTES).strip().rstrip("!")
    return tuple(_TOKENS.findall(_ARTICLES.sub("", plain[:1].lower() + plain[1:])))


def _may_repeat(one: Chunk, other: Chunk) -> bool:
    """Return whether two chunks of the same text are about the same thing, as far as they tell."""
    told = ((one.metadata.get(key), other.metadata.get(key)) for key in _TELLING_APART)
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in told)
