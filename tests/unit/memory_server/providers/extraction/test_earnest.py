"""What people do not mean, by what is said around it."""

import pytest

from memory_server.domain.turn import Role
from memory_server.providers.extraction.rules import semantic
from tests.conversations import conversation, turn


def noted(*contents: str) -> list[str]:
    """Return the facts of a conversation in which user and assistant speak in turn."""
    talk = conversation(
        *(
            turn(number, content, role=(Role.ASSISTANT, Role.USER)[number % 2])
            for number, content in enumerate(contents, 1)
        )
    )
    return [fact.body.chunk_text for fact in semantic.extract(talk)]


@pytest.mark.parametrize(
    ("said", "answer", "later"),
    [
        ("I work for MI6.", "Really?", "no lol"),
        ("I own two castles.", "Very funny.", "What rhymes with orange?"),
        ("I own a lion.", "Haha, does it bite?", "Anyway, what is the capital of Chad?"),
        ("I live in Oslo.", "Nice.", "Seriously though, which city is cheapest?"),
        ("I'm a professional juggler in Leeds.", "Impressive.", "I wish!"),
        ("Trabajo para la CIA.", "¿En serio?", "Nah, mentira"),
        ("Tengo tres bancos.", "¡Ja!", "Bueno, ¿qué hora es en Lima?"),
        ("Vivo en Soria.", "Qué bien.", "Jajaja no. ¿Qué tiempo hace en Soria?"),
    ],
)
def test_what_is_laughed_off_is_not_meant(said: str, answer: str, later: str) -> None:
    assert noted(said, answer, later) == []


@pytest.mark.parametrize(
    ("said", "answer", "later"),
    [
        ("I have nine sisters.", "Ha! Nine!", "All of them older."),
        ("I live in a castle in Wales.", "Haha, really?", "Yes, it's my job to guard it."),
        ("I live in Hull.", "Haha, sunny Hull!", "haha yes, every day"),
        ("Me llamo Elvis Quispe.", "Jaja, ¡y yo Madonna!", "De verdad, mi papá era fan."),
        ("Tengo 17 gatos.", "¡Jaja, madre mía!", "sí, todos rescatados"),
    ],
)
def test_what_the_speaker_stands_by_is_meant_though_it_is_laughed_at(
    said: str, answer: str, later: str
) -> None:
    assert len(noted(said, answer, later)) >= 1


def test_game_lasts_until_somebody_is_serious_again() -> None:
    assert noted(
        "Let's role-play: you are the baker and I am the knight.",
        "Welcome, knight!",
        "I live in the tower.",
        "A fine tower.",
        "Out of character: I live in Leeds.",
    ) == ["The user lives in Leeds."]


def test_earnest_word_after_a_laugh_counts() -> None:
    assert noted(
        "I'm a professional napper.", "Is there a pension?", "Haha, no, I'm a dentist."
    ) == ["The user is a dentist."]
    assert noted("Doctor en asados.", "¡Eminencia!", "Jaja, no, soy contador.") == [
        "El usuario es contador."
    ]


@pytest.mark.parametrize(
    "said",
    [
        "I live in Moon Township.",
        "I live in Hell, Norway.",
        "I keep 14 snakes.",
        "I volunteer with penguins at the zoo in Leeds.",
        "My daughter is called Venus.",
        "I'm a ghostwriter in Dublin.",
        "My brother-in-law says I'm a vampire, but I'm a nurse.",
        "I was born in Batman, Turkey.",
        "Vivo en la calle Marte, en Guadalajara.",
        "Mi gata se llama Emperatriz.",
        "Vivo en un faro en Galicia.",
        "Tengo doce hermanos.",
        "Soy contador, aunque mi cuñado dice que soy mago.",
    ],
)
def test_odd_facts_are_facts(said: str) -> None:
    assert noted(said)
