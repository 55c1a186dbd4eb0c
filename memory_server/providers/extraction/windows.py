"""Cutting long conversations into pieces that a model can read at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_server.domain.turn import Turn

CHARACTERS_PER_TOKEN = 4
"""A rough estimate that needs no tokenizer."""
_TOKENS_PER_LABEL = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A turn, or a part of one that is too long to be read at once."""

    turn: Turn
    text: str

    @property
    def tokens(self) -> int:
        """How many tokens it takes, roughly."""
        return len(self.text) // CHARACTERS_PER_TOKEN + _TOKENS_PER_LABEL


def pieces(turns: Sequence[tuple[Turn, str]], *, max_tokens: int) -> Iterator[Piece]:
    """Yield the turns with their texts, those longer than a window in parts."""
    limit = (max_tokens - _TOKENS_PER_LABEL) * CHARACTERS_PER_TOKEN
    for turn, text in turns:
        for start in range(0, max(len(text), 1), limit):
            yield Piece(turn=turn, text=text[start : start + limit])


def windows(
    parts: Sequence[Piece], *, max_tokens: int, overlap_tokens: int
) -> Iterator[Sequence[Piece]]:
    """Yield runs of pieces within the budget, each beginning with the end of the one before."""
    window: list[Piece] = []
    for piece in parts:
        if window and _tokens(window) + piece.tokens > max_tokens:
            yield window
            window = _tail(window, min(overlap_tokens, max_tokens - piece.tokens))
        window.append(piece)
    if window:
        yield window


def _tail(window: Sequence[Piece], tokens: int) -> list[Piece]:
    tail: list[Piece] = []
    for piece in reversed(window):
        if _tokens(tail) + piece.tokens > tokens:
            break
        tail.insert(0, piece)
    return tail


def _tokens(window: Sequence[Piece]) -> int:
    return sum(piece.tokens for piece in window)
