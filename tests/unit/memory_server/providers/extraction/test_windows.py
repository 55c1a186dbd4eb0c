"""Cutting conversations to what a model can read at once."""

from hypothesis import given
from hypothesis import strategies as st

from memory_server.providers.extraction.windows import pieces, windows
from tests.conversations import turn


@given(
    lengths=st.lists(st.integers(0, 3000), min_size=1, max_size=30),
    max_tokens=st.integers(60, 400),
    overlap=st.integers(0, 100),
)
def test_every_word_is_shown_and_no_window_is_too_large(
    lengths: list[int], max_tokens: int, overlap: int
) -> None:
    turns = [(turn(n, "x"), "y" * length) for n, length in enumerate(lengths, 1)]
    parts = list(pieces(turns, max_tokens=max_tokens))

    cut = list(windows(parts, max_tokens=max_tokens, overlap_tokens=overlap))

    assert sum(len(part.text) for part in parts) == sum(lengths)
    assert [p for window in cut for p in window if p not in parts] == []
    assert {id(p) for window in cut for p in window} == {id(p) for p in parts}
    assert all(sum(p.tokens for p in window) <= max_tokens for window in cut)


def test_window_begins_with_the_end_of_the_one_before() -> None:
    turns = [(turn(n, "x"), "y" * 160) for n in range(1, 7)]
    parts = list(pieces(turns, max_tokens=180))

    cut = list(windows(parts, max_tokens=180, overlap_tokens=60))

    assert [[p.turn.turn_seq for p in window] for window in cut] == [[1, 2, 3], [3, 4, 5], [5, 6]]
