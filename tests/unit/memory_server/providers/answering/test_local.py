"""Answers from memory alone."""

from datetime import UTC, datetime

import pytest

from memory_server.domain.chunk import Chunk, Source
from memory_server.domain.turn import Turn
from memory_server.providers.answering.local import NOTED, NOTHING_KNOWN, LocalAnswerer
from memory_server.providers.answering.matching import best
from tests.conversations import turn

FACTS = (
    "The user always flies out of Boston.",
    "The user is allergic to shellfish.",
    "The user works at Acme as a nurse.",
    "El usuario vive en Madrid.",
)


async def answer(message: str, *facts: str, recent: tuple[Turn, ...] = ()) -> str:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    chunks = [
        Chunk(id=fact, content=fact, source=Source.SEMANTIC, timestamp=now, score=0.5)
        for fact in facts
    ]
    pieces = LocalAnswerer().answer(message, context="", chunks=chunks, recent=recent)
    return "".join([piece async for piece in pieces])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which airport do I usually fly from?", FACTS[0]),
        ("where do I fly out of", FACTS[0]),
        ("What am I allergic to?", FACTS[1]),
        ("Do I have any allergies?", FACTS[1]),
        ("What is my job?", FACTS[2]),
        ("Tell me where I work", FACTS[2]),
        ("¿Dónde vivo?", FACTS[3]),
    ],
)
async def test_question_is_answered_with_the_sentence_that_fits(
    question: str, expected: str
) -> None:
    assert await answer(question, *FACTS) == f"From memory: {expected}"


@pytest.mark.parametrize("question", ["Who is my boss?", "What is the weather in Rome?"])
async def test_what_is_not_known_is_said_to_be_unknown(question: str) -> None:
    assert await answer(question, *FACTS) == NOTHING_KNOWN


async def test_nothing_remembered_at_all_is_no_error() -> None:
    assert await answer("Where do I live?") == NOTHING_KNOWN


async def test_statement_is_acknowledged_and_not_answered() -> None:
    assert await answer("I always fly out of Boston.", *FACTS) == NOTED


async def test_what_was_just_said_counts_before_it_is_remembered() -> None:
    recent = (turn(1, "I always fly out of Boston."), turn(2, "Where do I fly from?"))

    answered = await answer("Where do I fly from?", recent=recent)

    assert answered == 'From memory, you said: "I always fly out of Boston."'


async def test_what_was_just_said_has_the_last_word() -> None:
    recent = (turn(1, "I always fly out of Denver now."),)

    answered = await answer("Where do I fly from?", *FACTS, recent=recent)

    assert answered == 'From memory, you said: "I always fly out of Denver now."'


async def test_fact_is_preferred_to_what_an_episode_once_said() -> None:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    told = {Source.EPISODIC: "User: I always fly out of Boston.", Source.SEMANTIC: FACTS[0]}
    chunks = [
        Chunk(id=text, content=text, source=source, timestamp=now, score=0.5)
        for source, text in told.items()
    ]

    pieces = LocalAnswerer().answer("Where do I fly from?", context="", chunks=chunks, recent=())

    assert "".join([piece async for piece in pieces]) == f"From memory: {FACTS[0]}"


async def test_sentence_that_shares_half_of_the_question_is_no_answer() -> None:
    assert await answer("What is my dog's name?", "The user's name is Ana.") == NOTHING_KNOWN


async def test_same_question_gets_the_same_answer() -> None:
    assert {await answer("What am I allergic to?", *FACTS) for _ in range(3)} == {
        f"From memory: {FACTS[1]}"
    }


def test_sentence_with_more_of_the_question_comes_first_and_weak_ones_are_left_out() -> None:
    texts = ["Ana likes tea. Ana likes green tea from Japan.", "Bob likes beer."]

    found = best("Does Ana like green tea?", texts)

    assert [match.sentence for match in found] == ["Ana likes green tea from Japan."]
