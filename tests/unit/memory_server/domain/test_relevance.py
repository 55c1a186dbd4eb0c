from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.ranking import Legs, Ranked
from memory_server.domain.relevance import (
    LATEST_OF,
    asked_about,
    asks_how_things_are,
    by_evidence,
    telling_of,
)
from memory_server.domain.utterance import Utterance
from tests.factories import SPACE

ANA_AND_BEN = {"Ana Pérez": "user", "Ben": "assistant"}
SPRING = datetime(2026, 4, 1, tzinfo=UTC)
ROLES = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, kw_only=True)
class Heard:
    """An utterance, and what each leg found of it, 0 to 1."""

    said: Utterance
    words: float = 0.5
    meaning: float = 0.5


def an_utterance(id_: str = "a", *, words: float = 0.5, meaning: float = 0.5, **more: Any) -> Heard:
    plain = Utterance(
        id=id_,
        session="s",
        speaker="Ana Pérez",
        role="user",
        text="I play the violin.",
        said_at=SPRING,
    )
    return Heard(said=plain._replace(**more), words=words, meaning=meaning)


def ranked_for(query: str, *found: Heard) -> list[Ranked]:
    legs = Legs(
        text={one.said.id: one.words for one in found},
        covered=max(one.words for one in found),
        vector={one.said.id: one.meaning for one in found},
        space=replace(SPACE, unrelated=0.0, same=1.0),
    )
    return by_evidence(query, [one.said for one in found], legs)


def order(query: str, *found: Heard) -> list[str]:
    return [one.id for one in ranked_for(query, *found)]


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
    [ranked] = ranked_for("When was I there?", strange)
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
    [ranked] = ranked_for(query + more, an_utterance(words=words, meaning=meaning, text=text))
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


def told_in(session: str, days: int, **more: Any) -> Heard:
    told = {"session": session, "said_at": SPRING + timedelta(days=days), **more}
    return an_utterance(session, **told)


MARCH_AND_JUNE = told_in("march", 0, words=0.55), told_in("june", 90, words=0.5)


@pytest.mark.parametrize("query", ["What does my violin weigh?", "¿Cuánto pesa mi violín?"])
def test_of_two_that_tell_of_a_state_alike_the_later_one_goes_first(query: str) -> None:
    assert order(query, *MARCH_AND_JUNE) == ["june", "march"]


@pytest.mark.parametrize(
    "query", ["What did my violin weigh at first?", "What does Ana's violin weigh?", "violin"]
)
def test_a_question_of_the_past_or_of_somebody_else_is_answered_by_the_nearest(query: str) -> None:
    assert order(query, *MARCH_AND_JUNE) == ["march", "june"]


def test_what_is_far_nearer_goes_before_what_is_later() -> None:
    found = told_in("march", 0, words=0.9), told_in("june", 90, words=0.1)
    assert order("What does my violin weigh?", *found) == ["march", "june"]


@given(st.permutations(range(LATEST_OF + 4)))
def test_scores_never_rise_down_the_order_and_nothing_is_lost(days: list[int]) -> None:
    found = [told_in(f"s{day}", day, words=place / 14) for place, day in enumerate(days)]
    ranked = ranked_for("What does my violin weigh?", *found)
    assert {one.id for one in ranked} == {one.said.id for one in found}
    scores = [one.score for one in ranked]
    assert scores == sorted(scores, reverse=True)


def test_between_a_user_and_an_assistant_who_spoke_counts_more_than_between_named_people() -> None:
    def asked_and_reply(user: str, assistant: str) -> tuple[Heard, Heard]:
        reply: dict[str, Any] = {"speaker": assistant, "role": "assistant"}
        asked = an_utterance("asked", speaker=user, words=0.4)
        return asked, an_utterance("reply", words=1.0, text="Pick a violin.", **reply)

    assert order("What do I play?", *asked_and_reply("user", "assistant")) == ["asked", "reply"]
    assert order("What does Ana play?", *asked_and_reply("Ana", "Ben")) == ["reply", "asked"]


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("What is my cat's weight?", True),
        ("Where do I buy my tea?", True),
        ("How many hens do I have?", True),
        ("Am I a member of the gym?", True),
        ("On which day is my rehearsal?", True),
        ("Do you remember which bus I am on?", True),
        ("¿Dónde trabajo yo?", True),
        ("¿Cómo se llama mi perro?", True),
        ("What was my first car?", False),
        ("How many books have I read?", False),
        ("When do I fly?", False),
        ("Where did I put it?", False),
        ("What is the capital of France?", False),
        ("¿Dónde vivía yo antes?", False),
        ("¿Qué compré ayer para mi perro?", False),
        ("my violin", False),
    ],
)
def test_a_state_of_the_askers_own_is_told_from_other_questions(query: str, asks: bool) -> None:
    assert asks_how_things_are(query) is asks
