"""How many items of a ranking fit into a budget of tokens."""

from collections.abc import Iterable
from itertools import accumulate, takewhile


def items_within(tokens: Iterable[int], budget: int) -> int:
    """Count the leading items that fit whole, as a prompt is filled from the top.

    The first that does not fit ends it: a shorter one further down does not jump the queue.
    """
    return sum(1 for _ in takewhile(lambda total: total <= budget, accumulate(tokens)))
