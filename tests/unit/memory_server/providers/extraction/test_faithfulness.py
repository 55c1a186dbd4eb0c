"""What an item says, against what was said."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.dates import resolve_each
from memory_server.providers.extraction.faithfulness import (
    Words,
    headline_unfounded,
    named_unfounded,
    unfounded,
    unspoken,
)

DAY = "2023-05-08T10:00:00+00:00"
"""A Monday."""

FAITHFUL: list[tuple[str, str, str | None]] = [
    ("I always fly out of Boston.", "The user always flies out of Boston.", None),
    ("my savings target is $13,500 now", "The user's savings target is $13,500.", None),
    ("my savings target is $13,500 now", "The user's savings target is 13500 dollars.", None),
    ("I earn 13k a month", "The user earns 13,000 a month.", None),
    ("I run 5km every morning", "The user runs 5 km every morning.", None),
    ("I run five kilometers every morning", "The user runs 5 km every morning.", None),
    ("Tengo tres gatos y un perro", "El usuario tiene 3 gatos y un perro.", None),
    ("I have a sister, Ana, and another one, Eva", "The user has two sisters, Ana and Eva.", None),
    ("I met Ana yesterday", "The user met Ana on 7 May 2023.", DAY),
    ("I met Ana yesterday", "The user met Ana on May 7, 2023.", DAY),
    ("I met Ana yesterday", "The user met Ana on 2023-05-07.", DAY),
    ("I got married last year", "The user got married in 2022.", DAY),
    ("I started last month", "The user started in April 2023.", DAY),
    ("I start next Monday", "The user starts on Monday, 15 May 2023.", DAY),
    ("I told you today", "As of 8 May 2023, the user told it.", DAY),
    ("meet me at 3pm", "The user wants to meet at 15:00.", None),
    ("meet me at 15:00", "The user wants to meet at 3 pm.", None),
    ("it's at 3:30 pm", "It takes place at 15:30.", None),
    ("my site is https://Example.com/Ana/", "The user's site is https://example.com/ana.", None),
    ("mail me at ana@x.org", "The user's address is ana@x.org.", None),
    ("run `make test` first", "Run `make test` first.", None),
    ("run make test first", "First, run `make test`.", None),
    ("my bro Jon is a cook", "The user's brother John is a cook.", None),
    ("I love NYC", "The user loves NYC.", None),
    ("I moved to New York City", "The user moved to NYC.", None),
    ("I'm from Spain", "The user is Spanish.", None),
    ("I'm vegan and hate olives", "The user is vegan and hates olives.", None),
    ("My sister Clara's turning 30 on May 4", "The user's sister Clara turns 30 on 4 May.", None),
    ("i live in porto with ana", "The user lives in Porto with Ana.", None),
    ("我有两只猫。住在北京", "用户有2只猫。住在北京。", None),
    ("我住在北京", "用户住在北京。", None),
    ("我用iPhone", "用户使用 iPhone。", None),
    (
        "Ich habe zwei Katzen und wohne in Köln",
        "Der Benutzer hat zwei Katzen und wohnt in Köln.",
        None,
    ),
    ("Ich habe 2 Katzen", "Der Nutzer hat zwei Katzen als Haustiere.", None),
    ("Moro em Lisboa há 3 anos", "O usuário mora em Lisboa há três anos.", None),
    ("Я живу в Москве", "Пользователь живёт в Москве.", None),
    ("twenty-five people came", "25 people came to the user's party.", None),
    ("treinta y cinco personas vinieron", "Vinieron 35 personas.", None),
    ("it costs 3.50 EUR", "It costs 3,50 €.", None),
    ("I'm 1.80 m tall", "The user is 1.80 m tall.", None),
    ("I weigh 70 kilos", "The user weighs 70 kg.", None),
    ("I need half an hour", "The user needs half an hour.", None),
    ("born on 3/4/1990", "The user was born on 3/4/1990.", None),
    ("born on the 3rd of April 1990", "The user was born on April 3, 1990.", None),
    ("first step: build. second: push", "1. Build\n2. Push", None),
    ("build it, then push it", "Step 1: build it. Step 2: push it.", None),
    ("I take the number 22 bus", "The user takes the number 22 bus.", None),
    ("my PIN for the bike lock hangs", "The user's bike lock hangs.", None),
    ("we use GPT-4 and H2 databases", "The user uses GPT-4 and H2 databases.", None),
    ("version 2.10.3 broke it", "Version 2.10.3 broke it.", None),
    ("I have a dozen eggs", "The user has 12 eggs.", None),
    ("between 10 and 12 people", "10-12 people take part.", None),
    ("the deadline is the 15th", "The deadline is the 15th.", None),
    (
        "The Red Hot Chili Peppers are my fave",
        "The user's favourite band is Red Hot Chili Peppers.",
        None,
    ),
    ("I work for Acme", "User: works for Acme. Assistant: congratulated the User.", None),
    ("my dentist is dr. veni", "The user's dentist is Dr. Veni.", None),
    ("voy los lunes", "The user goes on Mondays.", None),
    ("a las 8 de la tarde", "El usuario cena a las 20:00.", None),
    ("I have 1 million followers", "The user has 1,000,000 followers.", None),
    ("budget 2.5M", "The budget is 2.5 million.", None),
    ("I saw it twice", "The user saw it two times.", None),
    ("90% of it", "90 percent of it", None),
    ("I read it on the 1st of January, 2020", "The user read it on 1 January 2020.", None),
    ("I'm Zoë", "The user's name is Zoe.", None),
    ("I use MySQL, not postgres", "The user uses MySQL, not PostgreSQL.", None),
    ("I speak french", "The user speaks French.", None),
    ("he's called O'Brien", "The man's name is O'Brien.", None),
    ("I'm working on project-x", "The user works on Project X.", None),
    ("Mein Geburtstag ist am 3. Mai", "Der Geburtstag des Nutzers ist am 3. Mai.", None),
    ("I don't have any siblings", "The user has 0 siblings.", None),
]
UNFAITHFUL: list[tuple[str, str, str | None]] = [
    ("I always fly out of Boston.", "The user always flies out of Chicago.", None),
    ("I have two cats", "The user has 4 cats.", None),
    ("I have two cats", "The user has four cats.", None),
    ("savings target is $13,500", "The savings target is $15,300.", None),
    ("I run 5km", "The user runs 5 miles.", None),
    ("I weigh 70 kilos", "The user weighs 70 pounds.", None),
    ("it costs 30 euros", "It costs $30.", None),
    ("I met Ana yesterday", "The user met Ana on 8 April 2023.", DAY),
    ("I met Ana yesterday", "The user met Ana on 7 May 2023.", None),
    ("I got married last year", "The user got married in 2019.", DAY),
    ("my site is https://example.com/ana", "The user's site is https://example.com/eva.", None),
    ("run `make test`", "Run `make tests --fast`.", None),
    ("我住在北京", "The user lives in Beijing.", None),
    ("I live in Beijing", "用户住在北京。", None),
    ("Я живу в Москве", "The user lives in Moscow.", None),
    ("my sister is a cook", "The user's sister Clara is a cook.", None),
    ("meet me at 3pm", "The user wants to meet at 16:00.", None),
    ("I start in June", "The user starts in July.", None),
    ("It's on Monday", "It takes place on Tuesday.", None),
    ("born in 1990", "The user was born in 1991.", None),
    ("mail me at ana@x.org", "Mail to anna@x.org.", None),
    ("twenty-five people", "35 people came.", None),
    ("I like Marta", "The user likes Claudia.", None),
    ("version 2.10.3", "Version 2.10.4 broke it.", None),
]


def _words(said: str, day: str | None = None) -> Words:
    spans = []
    if day:
        at = datetime.fromisoformat(day)
        spans = [(at.date(), at.date() + timedelta(days=1))]
        spans += [(event.start.date(), event.end.date()) for event in resolve_each(said, at)]
    return Words(evidence=said, conversation=f"Ana: {said}", spans=tuple(spans))


@pytest.mark.parametrize(("said", "told", "day"), FAITHFUL)
def test_what_was_said_may_be_put_into_other_words(said: str, told: str, day: str | None) -> None:
    assert unfounded(told, _words(said, day)) is None
    assert unspoken(told, _words(said, day)) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("what can I cook tonight with chicken?", "I love coffee."),
        ("what can I cook tonight with chicken?", "The user does not own a car."),
        ("Tengo que irme ya.", "Al usuario le gusta el café."),
    ],
)
def test_a_fact_on_a_matter_that_nobody_spoke_of_is_found(said: str, told: str) -> None:
    assert unspoken(told, _words(said)) is not None


@pytest.mark.parametrize(("said", "told", "day"), UNFAITHFUL)
def test_what_was_not_said_is_found(said: str, told: str, day: str | None) -> None:
    assert unfounded(told, _words(said, day)) is not None


def test_reason_names_what_nobody_said() -> None:
    reason = unfounded("The user has 4 cats.", _words("I have two cats."))

    assert reason == "the number '4' does not stand in its evidence"


def test_name_may_stand_anywhere_in_the_conversation() -> None:
    words = Words(evidence="She moved to Porto.", conversation="Ana: My sister is Clara.")

    assert unfounded("The user's sister Clara moved to Porto.", words) is None


def test_number_must_stand_in_the_evidence_itself() -> None:
    words = Words(
        evidence="They are black.", conversation="Ana: I have 3 cats.\nAna: They are black."
    )

    assert unfounded("The user's 3 cats are black.", words) is not None


def test_capitals_of_a_headline_name_nobody() -> None:
    words = _words("I have two cats")

    assert headline_unfounded("Cats And Their People", words) is None
    assert unfounded("Cats And Their Happy People", words) is None
    assert headline_unfounded("The 4 Cats", words) is not None


@pytest.mark.parametrize("name", ["Ana", "ana", "User", "cat door"])
def test_person_or_term_that_was_named_stands(name: str) -> None:
    assert named_unfounded(name, _words("I call it the cat-door, or Cat door.")) is None


@pytest.mark.parametrize("name", ["Bob", "everyone", "all users", "admin", "Flux"])
def test_person_or_term_that_was_not_named_is_found(name: str) -> None:
    assert named_unfounded(name, _words("Tell everyone, admin and all users of it.")) is not None


PIECES = st.sampled_from(
    "Ana said 3 3/4 pm 10:99 1,000 13.500,5 \u00bd \u00b2 \u0663 three twenty five k million ` ``` "
    "https:// www. \n . 5月 May apr\u0131l 2023 31. 12 de mayo O'Brien - (a) 1. step 2 $ %".split(
        " "
    )
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=20).map(" ".join)


@given(told=TEXTS, said=TEXTS)
def test_any_text_is_compared_without_a_fault(told: str, said: str) -> None:
    unfounded(told, _words(said, DAY))
    named_unfounded(told, _words(said))
    assert headline_unfounded(said, _words(said)) is None


@given(said=TEXTS)
def test_what_repeats_what_was_said_is_never_doubted(said: str) -> None:
    assert unfounded(said, _words(said)) is None
