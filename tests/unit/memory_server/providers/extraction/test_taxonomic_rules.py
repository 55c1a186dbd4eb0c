"""Terms that somebody defined."""

from collections.abc import Sequence

import pytest

from memory_server.domain.memory import MemoryType, Term
from memory_server.domain.turn import Role
from memory_server.providers.extraction.rules import RuleExtractor
from tests.conversations import conversation, said, turn

FOUND: Sequence[tuple[str, tuple[str, str, str]]] = [
    ('"P0" means a full outage.', ("general", "P0", "a full outage")),
    (
        "ARR stands for annual recurring revenue.",
        ("general", "ARR", "annual recurring revenue"),
    ),
    (
        "By churn we mean customers who cancel within 30 days.",
        ("general", "churn", "customers who cancel within 30 days"),
    ),
    (
        "Bluebird is our code name for the new billing system.",
        ("general", "Bluebird", "the new billing system"),
    ),
    (
        "At Acme, a widget is any part with a serial number.",
        ("acme", "widget", "any part with a serial number"),
    ),
    ("In our team, done means merged and deployed.", ("team", "done", "merged and deployed")),
    (
        "When we say golden path, we mean the supported toolchain.",
        ("general", "golden path", "the supported toolchain"),
    ),
    (
        "Remember that SLO stands for service level objective.",
        ("general", "SLO", "service level objective"),
    ),
    (
        "OKR significa objetivos y resultados clave.",
        ("general", "OKR", "objetivos y resultados clave"),
    ),
    (
        "Faro es nuestro nombre para el panel de control.",
        ("general", "Faro", "el panel de control"),
    ),
]


async def terms(*contents: str) -> list[Term]:
    found = await RuleExtractor().extract(said(*contents), MemoryType.TAXONOMIC)
    return [c.body for c in found.candidates if isinstance(c.body, Term)]


@pytest.mark.parametrize(("spoken", "expected"), FOUND)
async def test_definition_becomes_a_term(spoken: str, expected: tuple[str, str, str]) -> None:
    (term,) = await terms(spoken)

    assert (term.domain, term.term, term.definition) == expected


@pytest.mark.parametrize(
    "spoken",
    [
        "That means a lot to me.",
        "Family means everything to me.",
        "It means I can go home.",
        "What does ARR mean?",
        "This means war, lol.",
        "Paris is a city in France.",
        "Eso significa mucho para mí.",
        "Helping others means the world to me.",
    ],
)
async def test_what_defines_nothing_is_left_alone(spoken: str) -> None:
    assert await terms(spoken) == []


async def test_term_used_in_another_definition_is_its_relative() -> None:
    first, second = await terms(
        "ARR stands for annual recurring revenue.", '"NRR" means ARR kept from old customers.'
    )

    assert (first.related_terms, second.related_terms) == ((), ("ARR",))


async def test_assistants_explanations_are_no_terms_of_the_users() -> None:
    talk = conversation(turn(1, "ARR stands for annual recurring revenue.", role=Role.ASSISTANT))

    found = await RuleExtractor().extract(talk, MemoryType.TAXONOMIC)

    assert found.candidates == ()
