"""One answer from what the index found and what was written too lately for it. Pure functions.

Cosines of both are comparable. Words are weighed by how rare they are, which in the few documents
written lately says little: their scores are brought onto the scale of the index by `scale`.
"""

from collections.abc import Collection, Sequence
from statistics import median

from memory_server.ports.search import Hit


def merged(
    found: Sequence[Hit], recent: Sequence[Hit], *, hidden: Collection[str], limit: int
) -> list[Hit]:
    """Return the best of both, ties in the order of the id.

    `hidden` are the documents written lately: what the index found of them is outdated, and what
    is not in `recent` is not to be found any more.
    """
    outdated = frozenset(hidden)
    kept = [hit for hit in found if hit.id not in outdated]
    return ordered([*kept, *recent])[:limit]


def ordered(hits: Collection[Hit]) -> list[Hit]:
    """Return hits as the port promises them."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def scaled(hits: Sequence[Hit], factor: float) -> list[Hit]:
    """Return the hits with their scores multiplied."""
    return [Hit(hit.id, hit.score * factor) for hit in hits]


def scale(found: Sequence[Hit], recent: Sequence[Hit], *, covered: float) -> float:
    """Return by what the scores of recent finds are multiplied.

    Where documents are in both, it is the median of the ratios of their scores. Otherwise the best
    of both are alike, as far as the recent one holds as many of the words: `covered` is its number
    of words by that of the best the index found.
    """
    if not found or not recent:
        return 1.0
    known = {hit.id: hit.score for hit in found}
    ratios = [known[hit.id] / hit.score for hit in recent if hit.id in known]
    if ratios:
        return median(ratios)
    return found[0].score / recent[0].score * min(1.0, covered)


def is_settled(scores: Sequence[float], wanted: int) -> bool:
    """Return whether the best `wanted` of these scores, best first, can be told from the rest.

    With ties across the border, the order of the id decides, so all that tie must be known.
    """
    return len(scores) > wanted > 0 and scores[wanted] < scores[wanted - 1]
