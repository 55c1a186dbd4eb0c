"""Words are found whole, in any script."""

import pytest

from evaluation.extraction.wording import says, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The user lives in Segovia.", ["segovia"]),
        ("Three  CATS\nlive here", ["three cats"]),
        ("Costs 3.50 € a day", ["3.50", "€"]),
        ("see https://ana.example/?a=1.", ["https://ana.example/?a=1"]),
        ("likes hiking 🥾", ["🥾"]),
        ("用户住在北京。", ["北京"]),
        ("Ana\u2019s dog", ["Ana's"]),
        ("Cafe\u0301 is loved", ["café"]),
        ("a dog", [["cat", "dog"], "a"]),
    ],
)
def test_what_stands_in_a_text_is_said(text: str, words: list[str | list[str]]) -> None:
    assert says(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The user has a category.", ["cat"]),
        ("Version 16", ["1"]),
        ("a dog", [["cat", "cow"]]),
        ("a dog", ["a", "cat"]),
        ("el ano", ["año"]),
    ],
)
def test_what_is_a_part_or_is_not_there_is_not_said(
    text: str, words: list[str | list[str]]
) -> None:
    assert not says(text, words)


def test_chinese_is_counted_by_characters() -> None:
    assert words_of("住在 Berlin 区") == ["住", "在", "Berlin", "区"]
