"""What Atlas knows of documents that were written lately: asked by searching for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.filters import Comparison, Operator
from memory_server.search.atlas import pipelines
from memory_server.search.atlas.deployment import Database, run

BATCH = 80
"""Documents in one question: each is nine conditions, and Lucene takes 1,024."""

TOLERANCE = 1e-4
"""Scores that differ by less are of one vector."""

_TOLD = (
    "id",
    "project_id",
    "user_id",
    "agent_id",
    "session_id",
    "visibility",
    "is_live",
    "hidden",
    "revision",
)
"""The fields by which a document is told from what it was: all by which searches are narrowed, and
`revision`, which goes up with the text."""

_EMBEDDED = "has_embedding"
"""Changes where a document is given its first vector later, by whichever server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A document as it is stored now."""

    id: str
    """Its `_id`."""
    told: Sequence[Comparison]
    vectors: Mapping[str, Vector]
    """By the names of their spaces."""
    state: Mapping[str, Any]
    """What is compared to see whether another server changed it."""


def written(document: Mapping[str, Any], vectors: Mapping[str, Vector]) -> Written:
    """Return what Atlas is to know of a stored document."""
    state = _state(document)
    told = [
        Comparison(name, Operator.EQ, state[name]) for name in _TOLD if state.get(name) is not None
    ]
    return Written(id=document["_id"], told=told, vectors=vectors, state=state)


async def outdated(
    database: Database, collection: str, documents: Sequence[Written]
) -> frozenset[str]:
    """Return the `_id`s of those that other servers changed or removed since."""
    wanted = {"_id": {"$in": [one.id for one in documents]}}
    fields = dict.fromkeys((*_TOLD, _EMBEDDED), 1)
    with database.translated():
        rows = database[collection].find(wanted, fields)
        current = {row["_id"]: _state(row) async for row in rows}
    names = {one.id: one.state for one in documents}
    return frozenset(name for name, state in names.items() if current.get(name) != state)


def _state(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in (*_TOLD, _EMBEDDED) if name in document}


async def known(
    database: Database,
    collection: str,
    documents: Sequence[Written],
    spaces: Iterable[EmbeddingSpace],
) -> frozenset[str]:
    """Return the `_id`s of those that Atlas finds as they are now, by words and by vectors.

    `spaces` are those that Atlas indexes; vectors of others are not asked for.
    """
    found = frozenset[str]()
    for start in range(0, len(documents), BATCH):
        some = documents[start : start + BATCH]
        with database.translated():
            by_words = await run(
                database[collection], pipelines.known_words_pipeline([one.told for one in some])
            )
        up_to_date = {row["_id"] for row in by_words}
        for space in spaces:
            up_to_date &= await _same_vectors(database, collection, some, space)
        found |= up_to_date
    return found


async def _same_vectors(
    database: Database, collection: str, documents: Sequence[Written], space: EmbeddingSpace
) -> set[str]:
    """Return the documents of which Atlas has the present vector of a space, or rightly none."""
    probe = _probe(space.dimension)
    pipeline = pipelines.known_vectors_pipeline([one.told for one in documents], probe, space)
    with database.translated():
        rows = await run(database[collection], pipeline)
    scores = {row["_id"]: float(row["score"]) for row in rows}
    return {
        one.id
        for one in documents
        if _agrees(one.vectors.get(space.name), probe, scores.get(one.id))
    }


def _agrees(vector: Vector | None, probe: Vector, score: float | None) -> bool:
    if vector is None or score is None:
        return vector is None and score is None
    return abs(pipelines.cosine(score) - float(vector @ probe)) < TOLERANCE


def _probe(dimension: int) -> Vector:
    """Return a direction in which any two vectors differ."""
    drawn = np.random.default_rng(dimension).normal(size=dimension)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)
