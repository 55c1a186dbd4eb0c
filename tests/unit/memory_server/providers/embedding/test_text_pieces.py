import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.providers.embedding.text_pieces import cut


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n ", []),
        ("short", ["short"]),
        ("exactly 10", ["exactly 10"]),
        ("one two three", ["one two", "three"]),
        ("unbreakable-word", ["unbreakabl", "e-word"]),
        ("a b c d e f g", ["a b c d e", "f g"]),
        ("tabs are\tnewline\nend", ["tabs are", "newline", "end"]),
    ],
)
def test_text_is_cut_at_white_space_near_the_limit(text: str, pieces: list[str]) -> None:
    assert cut(text, limit=10) == pieces


@given(text=st.text(alphabet="ab \n", max_size=200), limit=st.integers(1, 30))
def test_nothing_but_white_space_is_lost(text: str, limit: int) -> None:
    pieces = cut(text, limit=limit)

    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= limit and piece.strip() for piece in pieces)
