"""What is known that a remark on a change can only be about."""

from collections.abc import Sequence

import pytest

from memory_server.domain.candidate import Candidate
from memory_server.domain.memory import Claim, Fact
from memory_server.domain.reconciliation import Neighbour
from memory_server.domain.remarks import (
    CLOSER,
    MARGIN,
    NEAR,
    NEAR_UNSAID,
    what_it_changes,
)
from tests.factories import SPACE, a_memory

SAVINGS = ("savings_target", "$12,500")
RENT = ("rent", "$900")
HENS = ("number_of_hens", "9")
INSTEAD = "The sum I am putting by for is $14,000 instead"
Known = tuple[str, str]


def remark(said: str) -> Candidate:
    body = Fact(label="a_remark", text=f'The user said: "{said}".')
    return Candidate(body=body, turn_ids=("t2",), is_remark=True)


def fact(known: Known, nearness: float, *, subject: str = "user", text: str = "") -> Neighbour:
    attribute, value = known
    body = Fact(label=attribute, text=text or f"It is {value}.")
    claim = Claim(subject=subject, attribute=attribute, value=value, exclusive=True)
    similarity = SPACE.unrelated + nearness * (SPACE.same - SPACE.unrelated)
    return Neighbour(a_memory(id=attribute, body=body, claim=claim), similarity)


def changed(said: str, *known: Neighbour) -> Sequence[str] | None:
    """Return what a remark changes: label, attribute, value and former value."""
    meant = what_it_changes(remark(said), known, SPACE)
    if meant is None:
        return None
    assert isinstance(meant.body, Fact)
    assert meant.claim
    assert meant.corrects
    assert not meant.is_remark
    assert said in meant.body.text
    return meant.body.label, meant.claim.attribute, meant.claim.value, meant.corrects.value


def test_a_remark_is_another_value_of_the_nearest_fact_with_a_value_of_its_kind() -> None:
    assert changed(INSTEAD, fact(SAVINGS, 0.5), fact(RENT, 0.4)) == (
        "savings_target",
        "savings_target",
        "$14,000",
        "$12,500",
    )


def test_only_the_value_of_a_longer_statement_is_another() -> None:
    swims = ("habit", "swim 66 lengths per visit")
    said = "I swim 68 lengths a time since May"

    assert changed(said, fact(swims, 0.5, text="The user swims 66 lengths.")) == (
        "habit",
        "habit",
        "swim 68 lengths per visit",
        "swim 66 lengths per visit",
    )


def test_the_value_may_be_part_of_what_is_so() -> None:
    swims = ("swim 66 lengths per visit", "yes")
    said = "I do 68 lengths a time since May"

    assert changed(said, fact(swims, 0.5, text="The user swims 66 lengths.")) == (
        "swim 66 lengths per visit",
        "swim 68 lengths per visit",
        "yes",
        "yes",
    )


@pytest.mark.parametrize(
    ("said", "known"),
    [
        pytest.param(INSTEAD, [], id="nothing is known"),
        pytest.param(INSTEAD, [fact(SAVINGS, NEAR - 0.01)], id="too far"),
        pytest.param(INSTEAD, [fact(HENS, 0.6)], id="another kind of value"),
        pytest.param(INSTEAD, [fact(HENS, 0.6), fact(SAVINGS, 0.5)], id="another fact is nearer"),
        pytest.param(
            INSTEAD, [fact(SAVINGS, 0.5), fact(RENT, 0.5 - MARGIN + 0.01)], id="two are as near"
        ),
        pytest.param(INSTEAD, [fact(("savings", "$14,000"), 0.5)], id="the value is known"),
        pytest.param(INSTEAD, [fact(SAVINGS, 0.5, subject="Eva")], id="somebody else's"),
        pytest.param(INSTEAD, [fact(("costs", "$5 to $9"), 0.5)], id="the fact has two values"),
        pytest.param("We have 3 cars now", [fact(HENS, 0.5)], id="it counts something else"),
    ],
)
def test_what_is_not_plainly_about_a_fact_changes_none(
    said: str, known: Sequence[Neighbour]
) -> None:
    assert changed(said, *known) is None


@pytest.mark.parametrize(
    ("said", "nearness", "expected"),
    [
        ("I do 58 lengths per visit", NEAR_UNSAID - CLOSER + 0.01, True),
        ("I do 58 lengths per visit", NEAR_UNSAID - CLOSER - 0.01, False),
        ("I did 58 lengths yesterday", NEAR_UNSAID + 0.1, False),
        ("I want to do 58 lengths per visit", NEAR_UNSAID + 0.1, False),
    ],
)
def test_what_is_counted_may_be_told_anew_without_a_word_of_change(
    said: str, nearness: float, expected: bool
) -> None:
    known = fact(("swim 66 lengths per visit", "yes"), nearness, text="I swim 66 lengths.")

    assert (changed(said, known) is not None) is expected


def test_a_value_of_a_kind_that_few_have_makes_up_for_some_nearness() -> None:
    said, key = "The way in is inside the lantern now", ("spare_key", "behind the meter")

    assert changed(said, fact(key, NEAR - CLOSER + 0.01, text="It hangs there.")) is not None
    assert changed(said, fact(key, NEAR - CLOSER - 0.01, text="It hangs there.")) is None


def test_a_word_in_common_makes_up_for_some_nearness() -> None:
    said = "My target for savings went up to $14,000"

    assert changed(said, fact(SAVINGS, NEAR - CLOSER + 0.01)) is not None
    assert changed(said, fact(SAVINGS, NEAR - CLOSER - 0.01)) is None
