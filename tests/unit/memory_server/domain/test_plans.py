"""A plan is over when what it was about took place."""

from datetime import UTC, datetime

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.memory import Claim, Fact, Memory
from memory_server.domain.plans import tells_it_happened
from memory_server.domain.scope import Visibility

MARCH = datetime(2030, 3, 1, tzinfo=UTC)


def plan(value: str, attribute: str = "plan") -> Memory:
    return Memory(
        id="m1",
        project_id="p",
        user_id="ana",
        visibility=Visibility.PRIVATE,
        body=Fact(label="plan", text=f"The user plans to {value}."),
        claim=Claim(subject="user", attribute=attribute, value=value),
        created_at=MARCH,
        updated_at=MARCH,
        valid_from=MARCH,
    )


def told(text: str, attribute: str = "event", value: str = "") -> Candidate:
    claim = Claim(subject="user", attribute=attribute, value=value or text)
    return Candidate(body=Fact(label="a_fact", text=text), turn_ids=("t1",), claim=claim)


@pytest.mark.parametrize(
    ("planned", "happened"),
    [
        ("move to Porto in May", told("The user lives in Porto.", "residence", "Porto")),
        ("visit Tokyo next month", told("The user visited Tokyo last week.")),
        ("to adopt a dog", told("The user adopted a dog named Rex.", "dog", "Rex")),
        ("buy a boat", told("The user bought a boat.", "bought", "a boat")),
        ("mudarme a Oporto en mayo", told("El usuario se mudó a Oporto.", "residence", "Oporto")),
        ("get married in August", told("The user got married.", "marital_status", "married")),
    ],
)
def test_plan_came_true(planned: str, happened: Candidate) -> None:
    assert tells_it_happened(happened, plan(planned))


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        ("move to Porto in May", told("The user loves Porto.", "likes_porto", "yes")),
        ("move to Porto in May", told("The user lives in Lisbon.", "residence", "Lisbon")),
        ("visit Tokyo next month", told("The user visited Osaka.")),
        ("buy a boat", told("The user does not own a boat.", "owns_boat", "no")),
        ("learn Welsh", told("The user speaks Greek.", "speaks_greek", "yes")),
    ],
)
def test_plan_goes_on(planned: str, said: Candidate) -> None:
    assert not tells_it_happened(said, plan(planned))
