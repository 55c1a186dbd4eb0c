"""Words of the index and of questions."""

import re
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.turn import Role
from memory_server.domain.words import (
    ANSWERED,
    embedding_text,
    index_text,
    query_terms,
    turn_text,
)
from tests.factories import a_turn


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("When did Marta go to the choir practice?", ["marta", "go", "choir", "practice"]),
        ("What is Ana's favourite colour?", ["ana", "favourite", "colour"]),
        ("what's new with Bob", ["new", "with", "bob"]),
        ("didn't she move from Lisbon", ["move", "from", "lisbon"]),
        ("¿Cuándo se mudó María a Madrid?", ["mudó", "maría", "madrid"]),
        ("¿Por qué cambió de trabajo?", ["cambió", "trabajo"]),
        ("cuando donde quien", ["cuando", "donde", "quien"]),
        ("who are you", ["who", "are", "you"]),
        ("move move MOVE", ["move"]),
        ("ERR-4021", ["err-4021", "err", "4021"]),
        ("invoice_99", ["invoice_99", "invoice", "99"]),
        ("current.md", ["current.md", "current", "md"]),
        ("GB/s", ["gb/s", "gb"]),
        ("a-b", ["a-b"]),
        ("user@example.org", ["user@example.org", "user", "example", "org"]),
        ("记忆系统", ["记忆", "忆系", "系统"]),
        ("猫", ["猫"]),
        ("用Python写", ["用", "python", "写"]),
        ("ＡＢＣ", ["abc"]),  # noqa: RUF001 full-width letters are the case
        ("", []),
        ("?!… — ''", []),
        ("___", []),
        ("🙂 Porto", ["porto"]),
    ],
)
def test_a_question_becomes_the_words_worth_a_search(query: str, expected: list[str]) -> None:
    assert query_terms(query) == expected


@pytest.mark.parametrize("word", ["with", "from", "about", "not", "before", "after"])
def test_words_that_tell_something_are_kept(word: str) -> None:
    assert word in query_terms(f"what did she do {word} Bob")


@given(st.text())
def test_terms_of_any_text_are_plain_and_come_once(query: str) -> None:
    terms = query_terms(query)

    assert len(set(terms)) == len(terms)
    assert all(re.search(r"[^\W_]", term) for term in terms)
    assert not any(set(term) & set(" \"*()^'\0") for term in terms)


def test_spaced_text_goes_into_the_index_as_it_is() -> None:
    assert index_text("Ana moved to São Paulo, ERR-4021.") == "Ana moved to São Paulo, ERR-4021."


def test_text_without_spaces_goes_into_the_index_in_pairs_and_characters() -> None:
    assert index_text("我养猫").split() == ["我养", "养猫", "我", "养", "猫"]


def test_text_without_spaces_is_set_apart_from_what_surrounds_it() -> None:
    assert index_text("用Python写").split() == ["用", "Python", "写"]


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x4EFF), min_size=1))
def test_what_is_asked_without_spaces_is_in_the_index(text: str) -> None:
    assert set(query_terms(text)) <= set(index_text(f"前{text}後").split())


def test_a_turn_is_indexed_with_its_speaker() -> None:
    assert turn_text(a_turn("Hello", metadata={"speaker": "Ana"})) == "Ana: Hello"


def test_a_turn_is_indexed_with_the_day_on_which_it_was_said_there() -> None:
    said = datetime.fromisoformat("2023-05-08T23:30:00-07:00")

    assert turn_text(a_turn("Hello", event_time=said)) == "8 May 2023 user: Hello"


def test_a_turn_is_embedded_with_what_it_answers() -> None:
    asked = a_turn("Do you have children?", role=Role.ASSISTANT)
    assert embedding_text(a_turn("Yes, three"), asked) == (
        "assistant: Do you have children?\nuser: Yes, three"
    )
    assert embedding_text(a_turn("Yes, three")) == "user: Yes, three"


def test_of_a_long_turn_its_end_is_embedded_with_the_answer() -> None:
    asked = a_turn("children and houses " * 100 + "Do you have any?", role=Role.ASSISTANT)
    before, _, said = embedding_text(a_turn("Yes, three"), asked).partition("\n")
    assert said == "user: Yes, three"
    assert before.endswith("and houses Do you have any?")
    assert before.startswith(("assistant: children", "assistant: and", "assistant: houses"))
    assert len(before) <= len("assistant: ") + ANSWERED


def test_the_end_of_a_long_text_without_spaces_is_cut_anywhere() -> None:
    asked = a_turn("\u4f60" * 1000, role=Role.ASSISTANT)
    end = "\u4f60" * ANSWERED
    assert embedding_text(a_turn("Yes"), asked) == f"assistant: {end}\nuser: Yes"
