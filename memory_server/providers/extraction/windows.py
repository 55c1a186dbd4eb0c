"""Cutting long conversations into pieces that a model can read at once.

A turn that is too long is cut where a paragraph, line, sentence or at least a word ends, and
each part begins with the end of the one before. Nothing is left out. Tokens are counted by the
estimate of `domain/tokens.py`, so that scripts with a token a letter fit as well.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memory_server.domain.tokens import count_tokens
from memory_server.domain.turn import Turn

_TOKENS_PER_LABEL = 40
"""The line above a turn: number, role, a speaker's name of some length, date."""
_TOKENS_PER_LINE = 2
"""The mark in front of each line, and its end."""
_LONGEST_ATOM = 192
"""Characters that are never cut; what is longer without a space is no word."""
_STOPS = "\u3002\uff01\uff1f"
"""Full stop, exclamation and question mark of Chinese and Japanese, which no space follows."""
_CLOSING = "\"')\\]\u2019\u201d\u00bb\u300d\u300f\uff09"
_ATOM = re.compile(
    rf"[^\s{_STOPS}]+(?:[{_STOPS}]+[{_CLOSING}]*)?\s*|[{_STOPS}]+[{_CLOSING}]*\s*|\s+"
)
_WORD, _SENTENCE, _LINE, _PARAGRAPH = range(4)
_ENDS = (
    (_PARAGRAPH, re.compile(r"\n\s*\n\s*\Z")),
    (_LINE, re.compile(r"\n\s*\Z")),
    (_SENTENCE, re.compile(rf"(?:[.!?\u2026][{_CLOSING}]*\s|[{_STOPS}][{_CLOSING}]*)\s*\Z")),
)
_JOINS = frozenset(("Mn", "Me", "Mc"))
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A turn, or a part of one that is too long to be read at once."""

    turn: Turn
    text: str
    start: int = 0
    """Where in the turn's text it begins."""

    @property
    def tokens(self) -> int:
        """How many tokens it takes with its label, roughly and rather too many."""
        return _cost(self.text) + _TOKENS_PER_LABEL


@dataclass(frozen=True, slots=True)
class _Atom:
    """A word with the space after it."""

    start: int
    text: str
    tokens: int
    end: int
    """What ends with it: a word, sentence, line or paragraph."""


def pieces(
    turns: Sequence[tuple[Turn, str]], *, max_tokens: int, overlap_tokens: int
) -> Iterator[Piece]:
    """Yield the turns with their texts, those longer than a window in overlapping parts."""
    room = max_tokens - _TOKENS_PER_LABEL
    for turn, text in turns:
        if _cost(text) <= room:
            yield Piece(turn=turn, text=text)
            continue
        for start, end in _parts(_atoms(text), room, min(overlap_tokens, room // 4)):
            yield Piece(turn=turn, text=text[start:end], start=start)


def windows(
    parts: Sequence[Piece], *, max_tokens: int, overlap_tokens: int
) -> Iterator[Sequence[Piece]]:
    """Yield runs of pieces within the budget, each beginning with the end of the one before."""
    window: list[Piece] = []
    for piece in parts:
        if window and _tokens(window) + piece.tokens > max_tokens:
            yield window
            window = _tail(window, piece, min(overlap_tokens, max_tokens - piece.tokens))
        window.append(piece)
    if window:
        yield window


def _tail(window: Sequence[Piece], following: Piece, tokens: int) -> list[Piece]:
    """Return what of a window is shown again: whole pieces, else the end of the last one."""
    if following.start:  # it begins with the end of the piece before already
        return []
    tail: list[Piece] = []
    for piece in reversed(window):
        if _tokens(tail) + piece.tokens > tokens:
            break
        tail.insert(0, piece)
    return tail or list(_end_of(window[-1], tokens - _TOKENS_PER_LABEL))


def _end_of(piece: Piece, tokens: int) -> Iterator[Piece]:
    atoms = _atoms(piece.text)
    first = _back_from(len(atoms), atoms, tokens - _TOKENS_PER_LINE)
    while first < len(atoms) and _cost(piece.text[atoms[first].start :]) > tokens:
        first += 1
    if first < len(atoms):
        start = atoms[first].start
        yield Piece(turn=piece.turn, text=piece.text[start:], start=piece.start + start)


def _tokens(window: Sequence[Piece]) -> int:
    return sum(piece.tokens for piece in window)


def _cost(text: str) -> int:
    return count_tokens(text) + _TOKENS_PER_LINE * (1 + text.count("\n"))


def _parts(atoms: Sequence[_Atom], room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield where each part begins and ends."""
    sums = [0, *accumulate(atom.tokens for atom in atoms)]
    first = 0
    while True:
        last = _fitting(sums, first, room - _TOKENS_PER_LINE)
        # Atoms that part a run of spaces take a token less than the run.
        while last > first + 1 and _cost(_joined(atoms[first:last])) > room:
            last -= 1
        if last < len(atoms):
            last = _good_end(atoms, sums, first, last)
        end = atoms[last - 1]
        yield atoms[first].start, end.start + len(end.text)
        if last == len(atoms):
            return
        first = max(_back_from(last, atoms, overlap), first + 1)


def _joined(atoms: Sequence[_Atom]) -> str:
    return "".join(atom.text for atom in atoms)


def _fitting(sums: Sequence[int], first: int, room: int) -> int:
    """Return the number of the atom that does not fit any more; one always fits."""
    last = first + 1
    while last + 1 < len(sums) and sums[last + 1] - sums[first] <= room:
        last += 1
    return last


def _good_end(atoms: Sequence[_Atom], sums: Sequence[int], first: int, last: int) -> int:
    """Return the latest of the best places to stop in the second half of what fits."""
    half = sums[first] + (sums[last] - sums[first]) // 2
    places = [place for place in range(first + 1, last + 1) if sums[place] >= half]
    return max(places, key=lambda place: (atoms[place - 1].end, place))


def _back_from(last: int, atoms: Sequence[_Atom], tokens: int) -> int:
    """Return where the text before `last` begins that takes so many tokens, at best a sentence."""
    place = last
    best = last
    while place > 0 and atoms[place - 1].tokens <= tokens:
        place -= 1
        tokens -= atoms[place].tokens
        if place == 0 or atoms[place - 1].end >= _SENTENCE:
            best = place
    return best if best < last else place


def _atoms(text: str) -> Sequence[_Atom]:
    return list(_measured(text))


def _measured(text: str) -> Iterator[_Atom]:
    for found in _ATOM.finditer(text):
        start = found.start()
        while start < found.end():
            end = _whole_character(text, min(start + _LONGEST_ATOM, found.end()))
            part = text[start:end]
            tokens = count_tokens(part) + _TOKENS_PER_LINE * part.count("\n")
            yield _Atom(start, part, tokens, _what_ends(part))
            start = end


def _what_ends(part: str) -> int:
    return next((kind for kind, form in _ENDS if form.search(part)), _WORD)


def _whole_character(text: str, end: int) -> int:
    """Return the end of the character that a cut would go through: letter and accents, emoji."""
    while end < len(text) and (
        unicodedata.category(text[end]) in _JOINS
        or text[end] in _JOINERS
        or text[end - 1] == "\u200d"
    ):
        end += 1
    return end
