"""The nearest rows of a matrix: exact, and the same whenever the same is asked."""

from collections.abc import Iterable, Sequence

import numpy as np

from memory_server.search.local.matrices import Floats, Integers, View

DECIMALS = 6
"""Cosines closer than this are equal: float32 sums depend on where a row lies in a matrix."""

_MARGIN = 2 * 10.0**-DECIMALS
_FEW = 4
"""Rows are gathered when fewer than one in this many is allowed, else all are multiplied."""

Scored = tuple[int, float]
"""A document's rowid and its cosine."""


def nearest(
    views: Iterable[View], query: Floats, *, limit: int, allowed: Integers | None
) -> Sequence[Scored]:
    """Return the best `limit` documents, and all that tie with the last of them, unordered.

    `allowed`: the only rowids that count, sorted; None: all.
    """
    found = [_best(view, query, limit, allowed) for view in views]
    if not found:
        return []
    scores = np.concatenate([scores for scores, _ in found])
    documents = np.concatenate([documents for _, documents in found])
    kept = _leaders(scores, limit)
    rounded = np.round(scores[kept].astype(np.float64), DECIMALS)
    return list(zip(documents[kept].tolist(), rounded.tolist(), strict=True))


def _best(
    view: View, query: Floats, limit: int, allowed: Integers | None
) -> tuple[Floats, Integers]:
    wanted = view.documents != 0 if allowed is None else np.isin(view.documents, allowed)
    rows = np.flatnonzero(wanted)
    scores = _scores(view, query, rows)
    kept = _leaders(scores, limit)
    return scores[kept], view.documents[rows[kept]]


def _scores(view: View, query: Floats, rows: Integers) -> Floats:
    total = len(view.documents)
    if len(rows) == total:
        return view.data @ query
    if len(rows) * _FEW < total:
        return view.data[rows] @ query
    scores: Floats = (view.data @ query)[rows]
    return scores


def _leaders(scores: Floats, limit: int) -> Integers:
    """Return the positions of the best scores and of those that may tie with the last."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= threshold - _MARGIN)
