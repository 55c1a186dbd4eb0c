"""Cutting conversations to what a model can read at once."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_server.domain.tokens import count_tokens
from memory_server.domain.turn import Turn
from memory_server.providers.extraction.windows import Piece, pieces, windows
from tests.conversations import turn

WORDS = st.sampled_from(
    ["I", "moved", "to", "Porto.", "Really?", "\n", "\n\n", " ", "我住在北京。", "我有两只猫", "https://a.b/c",
     "é", "👩🏽‍🚀", "x" * 400, "Да!", "`rm -rf`", "3,5", "\t", "—"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=200).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda space: space.join(words))
)


def _cut(
    texts: Sequence[str], *, max_tokens: int, overlap_tokens: int
) -> list[tuple[Turn, Sequence[Sequence[Piece]]]]:
    turns = [(turn(number, "x"), text) for number, text in enumerate(texts, 1)]
    parts = list(pieces(turns, max_tokens=max_tokens, overlap_tokens=overlap_tokens))
    cut = list(windows(parts, max_tokens=max_tokens, overlap_tokens=overlap_tokens))
    return [(one, cut) for one, _ in turns]


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    max_tokens=st.integers(300, 900),
    overlap=st.integers(0, 200),
)
def test_every_character_of_every_turn_is_in_some_window_in_its_place(
    texts: list[str], max_tokens: int, overlap: int
) -> None:
    for (one, cut), text in zip(
        _cut(texts, max_tokens=max_tokens, overlap_tokens=overlap), texts, strict=True
    ):
        seen = [p for window in cut for p in window if p.turn.id == one.id]
        covered = {p.start + offset for p in seen for offset in range(len(p.text))}
        assert covered == set(range(len(text)))
        assert all(text[p.start : p.start + len(p.text)] == p.text for p in seen)


@example(texts=["moved ", "moved " * 217], max_tokens=300, overlap=100)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    max_tokens=st.integers(300, 900),
    overlap=st.integers(0, 200),
)
def test_no_window_is_larger_than_what_may_be_shown(
    texts: list[str], max_tokens: int, overlap: int
) -> None:
    for _, cut in _cut(texts, max_tokens=max_tokens, overlap_tokens=overlap):
        assert all(sum(piece.tokens for piece in window) <= max_tokens for window in cut)


def _parts_of(text: str, *, max_tokens: int = 200, overlap_tokens: int = 30) -> list[str]:
    cut = pieces([(turn(1, "x"), text)], max_tokens=max_tokens, overlap_tokens=overlap_tokens)
    return [piece.text for piece in cut]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("We met Ana in Rome. " * 60, ". "),
        ("We met Ana in Rome\n" * 60, "\n"),
        ("We met Ana in Rome " * 60, " "),
        ("我有两只猫。它们都很喜欢晒太阳。" * 40, "。"),
    ],
)
def test_long_turn_is_cut_where_something_ends(text: str, ends: str) -> None:
    parts = _parts_of(text)

    assert len(parts) > 1
    assert all(part.endswith(ends) for part in parts)


def test_each_part_of_a_long_turn_begins_with_the_last_sentence_of_the_one_before() -> None:
    text = "".join(f"In the year {1000 + number} we met Ana in Rome. " for number in range(80))

    parts = _parts_of(text)

    assert len(parts) > 2
    for before, after in itertools.pairwise(parts):
        again = after[: after.index(". ") + 2]
        assert again.startswith("In the year")
        assert before.endswith(again) or again in before


def test_paragraph_end_is_preferred_to_a_sentence_end() -> None:
    text = "One two three. " * 30 + "End of it.\n\n" + "Four five six. " * 30

    assert _parts_of(text)[0].endswith("End of it.\n\n")


def test_word_without_end_is_cut_all_the_same_but_never_inside_a_character() -> None:
    parts = _parts_of("👩🏽‍🚀" * 400)

    assert len(parts) > 1
    assert all(part.startswith("👩") and part.endswith("🚀") for part in parts)


def test_language_with_a_token_a_letter_does_not_overrun() -> None:
    parts = _parts_of("我住在北京的一个小区里。" * 500, max_tokens=600)

    assert all(count_tokens(part) <= 600 for part in parts)
    assert all(len(part) <= 600 for part in parts)


def _spoken(words: str, *, count: int) -> list[tuple[Turn, str]]:
    return [(turn(number, "x"), words) for number in range(1, count + 1)]


def test_window_begins_with_the_end_of_the_one_before() -> None:
    parts = list(pieces(_spoken("yes " * 40, count=6), max_tokens=260, overlap_tokens=90))

    cut = list(windows(parts, max_tokens=260, overlap_tokens=90))

    assert [[p.turn.turn_seq for p in window] for window in cut] == [[1, 2, 3], [3, 4, 5], [5, 6]]


def test_end_of_a_turn_that_is_too_long_to_be_shown_again_is_shown_again() -> None:
    words = "We talked about many things. " * 20 + "Then I moved to Porto."
    parts = list(pieces(_spoken(words, count=3), max_tokens=400, overlap_tokens=90))

    cut = list(windows(parts, max_tokens=400, overlap_tokens=90))

    again = cut[1][0]
    assert (again.turn.turn_seq, again.start > 0) == (2, True)
    assert again.text.endswith("Then I moved to Porto.")
    assert again.text.startswith("We talked")
