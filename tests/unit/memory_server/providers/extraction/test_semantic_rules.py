"""What the rules take for a lasting fact, and what they leave alone."""

from collections.abc import Sequence

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.memory import Fact, MemoryType
from memory_server.domain.turn import Role
from memory_server.providers.extraction.rules import RuleExtractor
from tests.conversations import conversation, said, turn
from tests.unit.memory_server.providers.extraction.semantic_cases import (
    FORGOTTEN,
    LEFT_ALONE,
    SPOKEN,
    TEXTS,
    Claims,
)


async def facts(*contents: str) -> Sequence[Candidate]:
    found = await RuleExtractor().extract(said(*contents), MemoryType.SEMANTIC)
    return found.candidates


def claims(candidates: Sequence[Candidate]) -> Claims:
    return [(c.claim.attribute, c.claim.value) for c in candidates if c.claim]


@pytest.mark.parametrize(("spoken", "expected"), SPOKEN)
async def test_lasting_statement_becomes_its_claims(spoken: str, expected: Claims) -> None:
    assert claims(await facts(*spoken.split(" || "))) == list(expected)


@pytest.mark.parametrize("spoken", LEFT_ALONE)
async def test_what_is_no_lasting_statement_is_left_alone(spoken: str) -> None:
    assert claims(await facts(*spoken.split(" || "))) == []


@pytest.mark.parametrize(("spoken", "text"), TEXTS)
async def test_fact_reads_as_a_plain_sentence_in_the_language_of_the_words(
    spoken: str, text: str
) -> None:
    (fact, *_) = await facts(spoken)

    assert isinstance(fact.body, Fact)
    assert fact.body.text == text


@pytest.mark.parametrize(
    ("spoken", "attribute", "value"),
    [
        ("Forget that I smoke.", "smokes", "yes"),
        ("I no longer work at Google.", "workplace", "Google"),
        ("It's not true that I live in Oslo.", "residence", "Oslo"),
        ("Olvida que fumo.", "smokes", "yes"),
        ("Ya no trabajo en Telefónica.", "workplace", "Telefónica"),
    ],
)
async def test_taking_back_names_what_holds_no_longer(
    spoken: str, attribute: str, value: str
) -> None:
    (fact,) = await facts(spoken)

    assert fact.retracts
    assert claims([fact]) == [(attribute, value)]


@pytest.mark.parametrize(
    ("spoken", "workplace"),
    [
        ("I left Acme last month.", "Acme"),
        ("I was laid off from Acme.", "Acme"),
        ("Me despidieron de Movistar.", "Movistar"),
    ],
)
async def test_leaving_is_an_event_and_ends_what_was_left(spoken: str, workplace: str) -> None:
    dated = said(spoken, metadata={"date": "8 May 2023"})

    found = (await RuleExtractor().extract(dated, MemoryType.SEMANTIC)).candidates

    assert [(c.claim.attribute, c.retracts) for c in found if c.claim] == [
        ("workplace", True),
        ("event", False),
    ]
    assert found[0].claim is not None
    assert found[0].claim.value == workplace


@pytest.mark.parametrize(
    "spoken",
    [
        "I live in Rome. || Delete that, please.",
        "I live in Rome. || That wasn't true.",
        "Vivo en Roma. || Bórralo, por favor.",
    ],
)
async def test_what_was_said_last_is_taken_back_without_being_named(spoken: str) -> None:
    found = await facts(*spoken.split(" || "))

    assert [fact.retracts for fact in found] == [False, True]


@pytest.mark.parametrize(
    "spoken",
    ["I'm a professional astronaut. || Haha, kidding!", "Soy astronauta. || Era broma, tranquila."],
)
async def test_joke_that_is_owned_up_to_in_the_next_turn_leaves_nothing(spoken: str) -> None:
    assert not await facts(*spoken.split(" || "))


@pytest.mark.parametrize(("spoken", "attributes"), FORGOTTEN)
async def test_forgetting_a_matter_takes_back_whatever_is_known_of_it(
    spoken: str, attributes: Sequence[str]
) -> None:
    found = await facts(spoken)

    assert claims(found) == [(attribute, "") for attribute in attributes]
    assert all(fact.retracts for fact in found)


@pytest.mark.parametrize(
    "spoken", ["Forget everything about me.", "Forget it.", "Olvida todo sobre mí."]
)
async def test_forgetting_what_is_not_named_takes_nothing_back(spoken: str) -> None:
    assert await facts("I live in Rome.", spoken) == await facts("I live in Rome.")


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ("Forget my allergies.", [("allergic_to", "all"), ("allergies", "all")]),
        ("Forget my allergy.", [("allergic_to", "")]),
        ("Olvida mis alergias.", [("allergic_to", "all"), ("allergies", "all")]),
        ("Olvida mi alergia.", [("allergic_to", "")]),
    ],
)
async def test_forgetting_a_kind_tells_all_of_it_from_the_one(
    spoken: str, expected: Claims
) -> None:
    found = await facts(spoken)

    assert claims(found) == list(expected)
    assert all(fact.retracts for fact in found)


@pytest.mark.parametrize(
    ("spoken", "exclusive"),
    [
        ("I live in Rome.", True),
        ("I have two cats.", True),
        ("I hate cilantro.", True),
        ("My dog's name is Rex.", False),
        ("I plan to visit Tokyo next month.", False),
    ],
)
async def test_claim_tells_whether_only_one_value_can_hold(spoken: str, *, exclusive: bool) -> None:
    fact = (await facts(spoken))[0]

    assert fact.claim is not None
    assert fact.claim.exclusive is exclusive


async def test_fact_rests_on_the_turn_in_which_it_was_said() -> None:
    found = await facts("Hello there.", "I live in Rome.", "I have two cats.")

    assert [candidate.turn_ids for candidate in found] == [("t2",), ("t3",)]


async def test_correction_rests_on_both_turns() -> None:
    found = await facts("My appointment is on Monday.", "No, I meant Tuesday.")

    assert found[1].turn_ids == ("t1", "t2")


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.SYSTEM, Role.TOOL])
async def test_words_of_others_are_never_taken_for_the_users(role: Role) -> None:
    talk = conversation(turn(1, "I live in Rome and I have two cats.", role=role), turn(2, "Yes."))

    found = await RuleExtractor().extract(talk, MemoryType.SEMANTIC)

    assert found.candidates == ()


async def test_named_speakers_speak_for_themselves() -> None:
    talk = conversation(
        turn(1, "I live in Rome.", metadata={"speaker": "Ana"}),
        turn(2, "I live in Oslo.", role=Role.ASSISTANT, metadata={"speaker": "Ben"}),
    )

    found = await RuleExtractor().extract(talk, MemoryType.SEMANTIC)

    bodies = [c.body for c in found.candidates]
    assert bodies == [
        Fact(label="ana_residence", text="Ana lives in Rome."),
        Fact(label="ben_residence", text="Ben lives in Oslo."),
    ]
    assert [c.claim.subject for c in found.candidates if c.claim] == ["Ana", "Ben"]


async def test_dated_event_is_a_fact_with_its_time_and_none_without() -> None:
    dated = said("I took my kids to the zoo yesterday.", metadata={"date": "8 May 2023"})

    found = await RuleExtractor().extract(dated, MemoryType.SEMANTIC)
    undated = await facts("I took my kids to the zoo yesterday.")

    moment = found.candidates[0].event_time
    assert moment is not None
    assert moment.start.isoformat() == "2023-05-07T00:00:00+00:00"
    assert undated == ()


async def test_same_words_give_the_same_memories() -> None:
    talk = said(*(spoken for spoken, _ in SPOKEN))

    first = await RuleExtractor().extract(talk, MemoryType.SEMANTIC)
    second = await RuleExtractor().extract(talk, MemoryType.SEMANTIC)

    assert first == second


def test_table_is_large_enough_to_mean_something() -> None:
    assert len(SPOKEN) + len(LEFT_ALONE) >= 150
