"""Claims are the same where they say the same, in other words or languages."""

import pytest

from memory_server.domain.claims import matter_of
from memory_server.domain.memory import Claim


def claim(attribute: str, value: str, subject: str = "user") -> Claim:
    return Claim(subject=subject, attribute=attribute, value=value, exclusive=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (claim("likes_coffee", "yes"), claim("likes café", "sí")),
        (claim("likes_tea", "no"), claim("dislikes_tea", "yes")),
        (claim("likes_tea", "no"), claim("hates tea", "true")),
        (claim("number_of_cats", "two"), claim("number of gatos", "2")),
        (claim("number_of_kids", "3"), claim("number_of_children", "three")),
        (claim("allergic_to_shellfish", "yes"), claim("shellfish_allergy", "yes")),
        (claim("allergic_to_nuts", "yes"), claim("allergic_to_nut", "yes")),
        (claim("favourite_color", "el verde"), claim("favorite_colour", "green")),
        (claim("employer", "Acme"), claim("workplace", "acme")),
        (claim("residence", "Lisboa"), claim("home_city", "Lisbon")),
        (claim("residence", "Zúrich"), claim("residence", "Zurich")),
        (claim("hermana", "Clara"), claim("sister", "Clara")),
        (claim("is_smoker", "yes"), claim("smokes", "yes")),
    ],
)
def test_same_matter_and_value_are_known_again(one: Claim, other: Claim) -> None:
    assert matter_of(one) == matter_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (claim("likes_coffee", "yes"), claim("likes_coffee", "no")),
        (claim("allergic_to_nuts", "yes"), claim("allergic_to_soy", "yes")),
        (claim("sister_birthday", "May 4"), claim("brother_birthday", "May 4")),
        (claim("residence", "Rome"), claim("residence", "Rome", subject="Ana")),
        (claim("residence", "Rome"), claim("former_residence", "Rome")),
        (claim("name", "Siobhan"), claim("name", "Siobhán")),
        (claim("vitamin", "A"), claim("vitamin", "B")),
    ],
)
def test_other_matters_and_values_stay_apart(one: Claim, other: Claim) -> None:
    assert matter_of(one) != matter_of(other)


def test_kind_covers_each_of_its_things() -> None:
    kind = matter_of(claim("allergic_to", "all"))

    assert kind.covers(matter_of(claim("nut_allergy", "yes")))
    assert not kind.covers(matter_of(claim("likes_nuts", "yes")))
    assert not matter_of(claim("sister", "")).covers(matter_of(claim("sister_birthday", "May 4")))
