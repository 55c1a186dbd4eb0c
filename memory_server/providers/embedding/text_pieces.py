"""Cutting a long text where a reader would pause."""

from collections.abc import Sequence


def cut(text: str, *, limit: int) -> Sequence[str]:
    """Return the text in pieces of at most `limit` characters, none of them blank.

    A piece ends at the last white space in its second half, or where the limit is if it has
    none.
    """
    pieces = []
    rest = text.strip()
    while len(rest) > limit:
        end = _pause(rest, limit)
        pieces.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*pieces, rest] if rest else pieces


def _pause(text: str, limit: int) -> int:
    for end in range(limit, limit // 2, -1):
        if text[end].isspace():
            return end
    return limit
