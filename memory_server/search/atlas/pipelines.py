"""Searches as aggregation pipelines: pure functions from a selection.

Each has a stage that asks the index, and a `$match` over the documents as they are now. The index
may lag, and may know less than the filter asks: what it lets pass is looked at again, with the
whole of the selection. So no lag of the index shows anybody what they must not see.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bson.binary import Binary, BinaryVectorDtype

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.domain.moments import to_micros
from memory_server.ports.search import Selection
from memory_server.search.atlas.definitions import NAMES, WORDS, Leg, vector_path
from memory_server.search.atlas.filters import Fields, as_mql, as_operator, pushed

Pipeline = list[dict[str, Any]]
Matcher = Callable[[Filter], Mapping[str, Any]]
"""Turns a filter into the condition of a `$match` over stored documents."""

CANDIDATES_EACH = 20
"""Candidates for each document that is asked for, where the graph of the index is walked."""
MOST = 10_000
"""The most that `$vectorSearch` takes as `numCandidates`, and so as `limit`."""

MOST_TERMS = 256
"""Terms of one query that are looked for, as in the local index."""


def text_pipeline(
    selection: Selection, terms: Sequence[str], *, fields: Fields, match: Matcher
) -> Pipeline:
    """Return the search for the documents that hold any of the terms, the best first.

    A term of several words is a phrase. There is at least one term, and each has a word in it.
    """
    words = {"phrase": {"path": WORDS, "query": list(terms)[:MOST_TERMS]}}
    filters = [as_operator(one) for one in narrowing(selection, fields)]
    return [
        {
            "$search": {
                "index": NAMES[Leg.TEXT],
                "compound": {"must": [words], "filter": filters},
                "sort": {"score": {"$meta": "searchScore", "order": -1}, "id": 1},
            }
        },
        {"$match": condition(selection, match)},
        {"$limit": selection.limit},
        {"$project": _found("searchScore")},
    ]


def vector_pipeline(
    selection: Selection,
    vector: Vector,
    space: EmbeddingSpace,
    *,
    fields: Fields,
    match: Matcher,
    asked: int,
    exact: bool,
) -> Pipeline:
    """Return the search for the nearest documents; `asked`: how many the stage hands on."""
    filters = [as_mql(one) for one in narrowing(selection, fields)]
    return [
        _nearest(vector, space, {"$and": filters}, asked=asked, exact=exact),
        {"$match": condition(selection, match)},
        {"$project": _found("vectorSearchScore")},
    ]


def known_words_pipeline(documents: Sequence[Sequence[Comparison]]) -> Pipeline:
    """Return the search for those documents that the index for words knows as they are now.

    A document is given by conditions that hold for it alone.
    """
    named = [{"compound": {"filter": [as_operator(one) for one in all_of]}} for all_of in documents]
    filters = [{"compound": {"should": named, "minimumShouldMatch": 1}}]
    return [
        {"$search": {"index": NAMES[Leg.TEXT], "compound": {"filter": filters}}},
        {"$limit": len(documents)},
        {"$project": {"_id": 1}},
    ]


def known_vectors_pipeline(
    documents: Sequence[Sequence[Comparison]], vector: Vector, space: EmbeddingSpace
) -> Pipeline:
    """Return the search for what the index for vectors knows of documents as they are now."""
    named = [{"$and": [as_mql(one) for one in all_of]} for all_of in documents]
    return [
        _nearest(vector, space, {"$or": named}, asked=len(documents), exact=True),
        {"$project": {"_id": 1, "score": {"$meta": "vectorSearchScore"}}},
    ]


def narrowing(selection: Selection, fields: Fields) -> list[Filter]:
    """Return what the index can decide of a selection: scope, time, and of the filter."""
    narrowed: list[Filter] = [Comparison(*one) for one in _owned(selection)]
    narrowed += [Comparison(*one) for one in _held(selection)]
    rest = pushed(selection.filter, fields)
    if rest is None:
        return narrowed
    if isinstance(rest, Clauses) and rest.connective is Connective.AND:
        return [*narrowed, *rest.filters]
    return [*narrowed, rest]


def condition(selection: Selection, match: Matcher) -> dict[str, Any]:
    """Return the whole selection as a condition over the stored documents."""
    exact = (*_owned(selection), *_held(selection))
    found = {
        path: value if operator is _EQ else {operator.value: value}
        for path, operator, value in exact
    }
    alternatives = []
    if selection.asks_the_past and selection.as_of is not None:
        moment = to_micros(selection.as_of)
        alternatives.append({"$or": [{"valid_to": None}, {"valid_to": {"$gt": moment}}]})
    if selection.filter is not None:
        alternatives.append(dict(match(selection.filter)))
    return found | {"$and": alternatives} if alternatives else found


def owned(selection: Selection) -> dict[str, Any]:
    """Return the condition for all that the owner has, whatever else is asked."""
    return dict(selection.scope.of_user().conditions())


def cosine(score: float) -> float:
    """Return the cosine that a score of `$vectorSearch` stands for: it gives (1 + cosine) / 2."""
    return 2 * score - 1


def _nearest(
    vector: Vector, space: EmbeddingSpace, filters: Mapping[str, Any], *, asked: int, exact: bool
) -> dict[str, Any]:
    depth = {"exact": True} if exact else {"numCandidates": min(MOST, asked * CANDIDATES_EACH)}
    stage = {
        "index": NAMES[Leg.VECTOR],
        "path": vector_path(space),
        "queryVector": Binary.from_vector(
            vector.astype(np.float32).tolist(), BinaryVectorDtype.FLOAT32
        ),
        "filter": filters,
        "limit": asked,
        **depth,
    }
    return {"$vectorSearch": stage}


_EQ = Operator.EQ
_Condition = tuple[str, Operator, Any]


def _owned(selection: Selection) -> list[_Condition]:
    """Return whose it must be; turns have no visibility of their own."""
    found: list[_Condition] = [
        (field, _EQ, value)
        for field, value in selection.scope.conditions()
        if field != "visibility" or selection.source is not Source.STM
    ]
    if selection.source is Source.CUSTOM:
        found.append(("custom_type", _EQ, selection.custom_type))
    return found


def _held(selection: Selection) -> list[_Condition]:
    """Return which states may be found; turns have none."""
    if selection.source is Source.STM:
        return []
    if not selection.asks_the_past or selection.as_of is None:
        return [("is_live", _EQ, True)]
    return [
        ("hidden", _EQ, False),
        ("valid_from", Operator.LTE, to_micros(selection.as_of)),
    ]


def _found(score: str) -> dict[str, Any]:
    return {
        "_id": 0,
        "id": 1,
        "user_id": 1,
        "session_id": 1,
        "turn_seq": 1,
        "position": 1,
        "viewpoint": 1,
        "score": {"$meta": score},
    }
