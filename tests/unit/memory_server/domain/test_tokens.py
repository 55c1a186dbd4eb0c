import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("memory", 1),
        ("remembered", 2),
        ("I am allergic to peanuts.", 6),
        ("naïve café", 2),
        ("2026", 2),
        ("!?--", 2),
        ("東京", 2),
        ("안녕", 2),
        ("кошка", 2),
        ("🍣🍣", 2),
        ("a\n\nb", 3),
        (" " * 64, 4),
    ],
)
def test_a_text_has_its_stated_number_of_tokens(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(), st.text())
def test_joining_two_texts_changes_the_count_by_one_at_most(one: str, other: str) -> None:
    assert abs(count_tokens(one + other) - count_tokens(one) - count_tokens(other)) <= 1


@given(st.text(min_size=16))
def test_no_long_text_is_free(text: str) -> None:
    assert count_tokens(text) > 0
