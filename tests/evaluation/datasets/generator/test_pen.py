from random import Random

import pytest

from evaluation.datasets.generator.grammar import Topic, read_grammar
from evaluation.datasets.generator.pen import Pen, capitalized

TOPIC = Topic(goals=["rest"], things=["cup", "spoon"])


def a_pen(seed: int) -> Pen:
    return Pen(read_grammar("english"), Random(seed))  # noqa: S311 no secret


@pytest.fixture
def pen() -> Pen:
    return a_pen(1)


def test_a_slot_is_filled_by_what_is_given_before_anything_else(pen: Pen) -> None:
    assert pen.write("{coined} and {cities}", coined="A", cities="B") == "A and B"


def test_a_number_lies_between_its_bounds_in_steps(pen: Pen) -> None:
    numbers = {int(pen.write("{number:10:20:5}")) for _ in range(200)}

    assert numbers == {10, 15}
    assert {int(pen.write("{number:3:6}")) for _ in range(200)} == {3, 4, 5}
    assert pen.write("{money:2000:2001}") == "2,000"


def test_a_word_stays_the_same_in_a_sentence_and_its_second_is_another(pen: Pen) -> None:
    for _ in range(50):
        first, again, second = pen.write("{thing}/{thing}/{thing2}", TOPIC).split("/")

        assert first == again != second


def test_names_that_are_coined_differ_in_a_sentence(pen: Pen) -> None:
    assert len(set(pen.write("{coined} {coined} {coined}").split())) == 3


def test_a_sentence_begins_with_a_capital_where_it_says_so(pen: Pen) -> None:
    assert pen.write("{thing_start}", TOPIC)[0].isupper()
    assert capitalized("iPhone. x") == "IPhone. x"
    assert capitalized("") == ""


def test_words_may_hold_slots_of_their_own(pen: Pen) -> None:
    assert all("{" not in pen.write("{books}") for _ in range(50))


def test_another_is_none_of_those_that_were(pen: Pen) -> None:
    assert pen.another("{number:1:3}", {"1"}) == "2"


def test_the_same_chance_writes_the_same() -> None:
    template = "{coined} {cities} {number:1:1000} {thing}"

    assert a_pen(3).write(template, TOPIC) == a_pen(3).write(template, TOPIC)
    assert a_pen(3).write(template, TOPIC) != a_pen(4).write(template, TOPIC)
