"""Fitting memories into a number of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_server.domain.chunk import Chunk
from memory_server.domain.tokens import count_tokens

RESERVE = 500
"""Tokens kept free for what the caller puts around the memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What fits, in the order given, and the ids of what does not."""

    kept: Sequence[Chunk]
    dropped: Sequence[str]


def content_cost(chunk: Chunk) -> int:
    """Return the tokens of a chunk's text."""
    return count_tokens(chunk.content)


def pack(
    chunks: Sequence[Chunk],
    *,
    max_tokens: int,
    reserve: int = RESERVE,
    cost: Callable[[Chunk], int] = content_cost,
) -> Packed:
    """Fill `max_tokens - reserve` with whole chunks, in order, passing over those that do not fit.

    `max_tokens` up to `reserve` leaves room for none. `cost` is in tokens.
    """
    room = max_tokens - reserve
    kept: list[Chunk] = []
    dropped: list[str] = []
    for chunk in chunks:
        needed = cost(chunk)
        if room <= 0 or needed > room:
            dropped.append(chunk.id)
            continue
        kept.append(chunk)
        room -= needed
    return Packed(kept=kept, dropped=dropped)
