from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.relevance import Utterance, asked_about, by_evidence, telling_of

ANA_AND_BEN = {"Ana Pérez": "user", "Ben": "assistant"}
ROLES = {"user": "user", "assistant": "assistant"}


def an_utterance(id_: str = "a", **more: object) -> Utterance:
    plain = Utterance(
        id=id_,
        session="s",
        speaker="Ana Pérez",
        role="user",
        text="I play the violin.",
        words=0.5,
        meaning=0.5,
    )
    return replace(plain, **more)  # type: ignore[arg-type]  # the fields are the caller's


def order(query: str, *found: Utterance) -> list[str]:
    return [one.id for one in by_evidence(query, found)]


def test_what_is_found_better_comes_first() -> None:
    found = an_utterance("low", words=0.2), an_utterance("high", words=0.6)
    assert order("violin", *found) == ["high", "low"]


def test_of_two_alike_the_one_in_the_session_of_the_best_find_comes_first() -> None:
    best = an_utterance("best", session="near", meaning=0.9)
    near = an_utterance("near", session="near", meaning=0.3)
    far = an_utterance("far", session="far", meaning=0.3)
    assert order("violin", far, near, best) == ["best", "near", "far"]


def test_whoever_is_asked_about_is_heard_before_who_spoke_of_it_too() -> None:
    of_ben = an_utterance("ben", speaker="Ben", role="assistant")
    of_ana = an_utterance("ana")
    assert order("What does Ana play?", of_ben, of_ana) == ["ana", "ben"]
    assert order("What does Ben play?", of_ben, of_ana) == ["ben", "ana"]


def test_what_tells_comes_before_what_asks() -> None:
    asks = an_utterance("asks", text="Do you play the violin? Or the cello?")
    tells = an_utterance("tells", text="I play the violin now. And the cello.")
    assert order("the violin", asks, tells) == ["tells", "asks"]


def test_what_tells_much_comes_before_what_tells_little() -> None:
    little = an_utterance("little", text="A violin!")
    much = an_utterance("much", text="My violin is the one that my aunt had in Cremona.")
    assert order("the violin", little, much) == ["much", "little"]


@pytest.mark.parametrize(
    ("query", "dated"),
    [
        ("When did she buy the violin?", "I bought the violin last Tuesday at the shop."),
        ("¿Cuándo compró el violín?", "Compré el violín el martes pasado en la tienda."),
    ],
)
def test_a_question_for_a_time_wants_one(query: str, dated: str) -> None:
    found = (
        an_utterance("undated", text="I bought the violin with my aunt at the shop."),
        an_utterance("dated", text=dated),
    )
    assert order(query, *found) == ["dated", "undated"]


def test_what_has_nothing_of_the_question_has_no_score() -> None:
    strange = an_utterance(words=0.0, meaning=0.0, text="I was in Cremona last year, for a week.")
    [ranked] = by_evidence("When was I there?", [strange])
    assert ranked.score == 0


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.text(),
    st.text(),
    st.sampled_from(["", "Ana", "When did I?", "you said"]),
)
def test_scores_are_between_0_and_1(
    words: float, meaning: float, text: str, query: str, more: str
) -> None:
    [ranked] = by_evidence(query + more, [an_utterance(words=words, meaning=meaning, text=text)])
    assert 0 <= ranked.score <= 1


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_does_not_depend_on_the_order_of_finds(ids: list[str]) -> None:
    found = [an_utterance(id_, words=0.5 if id_ in "ab" else 0.4) for id_ in ids]
    assert order("the violin", *found) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("query", "speakers", "asked"),
    [
        ("What does Ana play?", ANA_AND_BEN, {"Ana Pérez"}),
        ("What is ana perez's violin like?", ANA_AND_BEN, {"Ana Pérez"}),
        ("What did Ben tell Ana?", ANA_AND_BEN, {"Ben"}),
        ("What have Ana and Ben played?", ANA_AND_BEN, set()),
        ("What do both Ana and Ben like?", ANA_AND_BEN, set()),
        ("¿Qué tocan Ana y Ben?", ANA_AND_BEN, set()),
        ("Who likes bananas?", ANA_AND_BEN, set()),
        ("What is my degree?", ROLES, {"user"}),
        ("¿Cómo se llama mi perro?", ROLES, {"user"}),
        ("Which shop did you recommend to me?", ROLES, {"assistant"}),
        ("What was the second item of the list you gave me?", ROLES, {"assistant"}),
        ("Can you remind me how my dog is called?", ROLES, {"user"}),
        ("¿Qué tienda me recomendaste?", ROLES, {"assistant"}),
        ("capital of France", ROLES, set()),
        ("What does the user want?", ROLES, set()),
    ],
)
def test_a_question_is_about_whom_it_names_first(
    query: str, speakers: dict[str, str], asked: set[str]
) -> None:
    assert asked_about(query, speakers) == asked


@pytest.mark.parametrize(
    ("text", "told", "asking"),
    [
        ("", 0, 0.0),
        ("I play the violin.", 4, 0.0),
        ("Do you?", 0, 1.0),
        ("¿Tocas el violín? Yo sí.", 2, 17 / 23),
        ("我拉小提琴。你呢\uff1f", 3, 3 / 9),
        ("\n\n...", 0, 0.0),
    ],
)
def test_telling_is_counted_in_words_and_asking_in_characters(
    text: str, told: int, asking: float
) -> None:
    assert telling_of(text).words == told
    assert telling_of(text).asking == pytest.approx(asking)
