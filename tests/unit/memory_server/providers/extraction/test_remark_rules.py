"""Remarks that something is otherwise now, read by rules."""

from collections.abc import Sequence

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.memory import MemoryType
from memory_server.domain.turn import Role
from memory_server.providers.extraction.rules import RuleExtractor
from tests.conversations import conversation, turn


async def remarks(said: str, *, role: Role = Role.USER) -> Sequence[Candidate]:
    talk = conversation(turn(1, said, role=role))
    found = await RuleExtractor().extract(talk, MemoryType.SEMANTIC)
    return [one for one in found.candidates if one.is_remark]


@pytest.mark.parametrize(
    ("said", "noted"),
    [
        ("The sum I put by for is $14,000 instead.", "The sum I put by for is $14,000 instead"),
        (
            "Btw, the building was sold and belongs to Tilda Migokla.",
            "the building was sold and belongs to Tilda Migokla",
        ),
        ("(They moved my things to number 12, in case that matters.)", "number 12"),
        ("La vendieron y ahora pertenece a Tilda Migokla.", "pertenece a Tilda Migokla"),
    ],
)
async def test_a_change_is_noted_in_the_words_it_was_told_in(said: str, noted: str) -> None:
    [remark] = await remarks(said)

    assert noted in remark.body.chunk_text
    assert remark.claim is None


@pytest.mark.parametrize(
    "said",
    [
        "Is the sum $14,000 instead?",
        "If they moved me to number 12, I would be glad.",
        "The new phone has 6 inches.",
        "My brother moved to number 12.",
        "I paid $90 for new shoes.",
        "It is number 12.",
        "The way in changed.",
        "My savings target is $14,000 now.",
    ],
)
async def test_what_tells_no_change_of_an_unnamed_thing_is_no_remark(said: str) -> None:
    assert not await remarks(said)


async def test_the_assistant_remarks_nothing() -> None:
    assert not await remarks("The sum is $14,000 instead.", role=Role.ASSISTANT)
