import pytest

from memory_server.domain.wording import is_negated, may_say_the_same, normalised, numbers


def test_wording_without_case_punctuation_and_spacing_is_equal() -> None:
    assert normalised("  I ALWAYS fly, out of Boston! ") == normalised("I always fly out of Boston")


def test_text_of_symbols_alone_keeps_them() -> None:
    assert normalised("🍣  !!") == "🍣 !!"


def test_dates_times_and_amounts_are_numbers() -> None:
    assert numbers("at 9:30 on 2026-05-01 for 1,200.50") == {"9:30", "2026-05-01", "1,200.50"}


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("I don't eat meat", True),
        ("I don\u2019t eat meat", True),
        ("Ana never flies", True),
        ("No como carne", True),
        ("Neither Ana nor Bob flies", True),
        ("I know Ana", False),
        ("I eat meat", False),
    ],
)
def test_denials_are_seen(text: str, negated: bool) -> None:
    assert is_negated(text) is negated


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I have two cats", "I have 2 cats", True),
        ("The user has two cats.", "The user has three cats.", False),
        ("Tengo dos gatos", "Tengo tres gatos", False),
        ("I have 2 cats", "I have 3 cats", False),
        ("I like tea", "I do not like tea", False),
        ("my sister is Ana", "my sister is Eva", False),
        ("I like green tea", "I really like green tea", True),
    ],
)
def test_numbers_denials_and_names_tell_near_texts_apart(one: str, other: str, same: bool) -> None:
    assert may_say_the_same(one, other) is same
