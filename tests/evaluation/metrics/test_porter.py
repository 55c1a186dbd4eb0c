import random
import string

import pytest
from nltk.stem import PorterStemmer  # type: ignore[import-untyped]

from evaluation.metrics.porter import stem

SUFFIXES = (
    "s sses ies ed eed ied ing ational tional enci anci izer bli alli entli eli ousli ization "
    "ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize "
    "iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous "
    "ive ize e ll y"
).split()


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("dies", "die"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("falling", "fall"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("relational", "relat"),
        ("skies", "sky"),
        ("controll", "control"),
        ("us", "us"),
    ],
)
def test_words_are_cut_to_their_stem(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_any_word_is_stemmed_as_nltk_does() -> None:
    oracle = PorterStemmer()
    chance = random.Random(7)  # noqa: S311 - the same texts each time
    beginnings = [
        "".join(chance.choices("aeioubtlsyrxm", k=chance.randint(0, 5))) for _ in "x" * 400
    ]
    words = [beginning + chance.choice(SUFFIXES) for beginning in beginnings for _ in range(10)]
    odd = ["".join(chance.choices(string.printable + "éß'", k=6)) for _ in range(500)]

    wrong = [word for word in [*words, *odd] if stem(word) != oracle.stem(word)]

    assert wrong == []
