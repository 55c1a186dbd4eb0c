import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.expansion import (
    MOST_NAMES,
    Expansion,
    answered,
    expansion,
    phrases,
)
from memory_server.domain.memory import Term

EXCHANGER = Term(
    domain="plant", term="HX", definition="moves heat", related_terms=("heat exchanger", "cooler")
)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("when was the HX cleaned?", ["heat exchanger", "cooler"]),
        ("when was the hx cleaned?", ["heat exchanger", "cooler"]),
        ("the heat exchangers leak", ["HX", "cooler"]),
        ("HX, the cooler", ["heat exchanger"]),
        ("the heat of the exchanger", None),
        ("HXT", None),
        ("", None),
    ],
)
def test_a_named_term_is_looked_for_by_its_other_names(query: str, names: list[str] | None) -> None:
    found = expansion(query, EXCHANGER)

    assert (None if found is None else list(found.names)) == names


@pytest.mark.parametrize("name", ["it", "IT", "who", "?", ""])
def test_a_name_that_questions_are_made_of_names_nothing(name: str) -> None:
    term = Term(domain="d", term=name, definition="x", related_terms=("computers",))

    assert expansion(f"what is {name}?", term) is None


def test_a_term_without_another_name_adds_nothing() -> None:
    assert expansion("the HX", Term(domain="d", term="HX", definition="x")) is None


def test_names_of_several_terms_are_looked_for_once_and_not_without_end() -> None:
    many = [Expansion(frozenset("a"), [f"name {n}", "same"]) for n in range(40)]

    found = phrases(many)

    assert len(found) == len(set(found)) == MOST_NAMES


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("the heat exchanger was cleaned", {"hx", "cleaned"}),
        ("the HX was cleaned", {"hx", "cleaned"}),
        ("the exchanger was cleaned", {"cleaned"}),
        ("the cooler broke", {"hx"}),
        ("nothing of it", set()),
    ],
)
def test_another_name_answers_for_the_words_of_the_question(text: str, held: set[str]) -> None:
    found = expansion("HX cleaned", EXCHANGER)
    assert found is not None

    assert answered(["hx", "cleaned"], text, [found]) == held


@given(st.text(max_size=30), st.text(max_size=10), st.lists(st.text(max_size=10), max_size=3))
def test_any_query_and_any_term_can_be_read(query: str, name: str, related: list[str]) -> None:
    found = expansion(
        query, Term(domain="d", term=name, definition="x", related_terms=tuple(related))
    )

    assert found is None or set(found.names) <= {name, *related}
