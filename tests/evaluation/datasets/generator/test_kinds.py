import re
from datetime import date
from random import Random

import pytest

from evaluation.datasets.generator.drafts import Desk
from evaluation.datasets.generator.grammar import read_grammar
from evaluation.datasets.generator.kinds import Drafting, draft_single, draft_update
from evaluation.datasets.generator.pen import Pen
from evaluation.datasets.generator.temporal import draft_temporal, when

ENGLISH = read_grammar("english")
ON_THE_DAY = ("today", "this morning", "a few hours ago")


def a_desk(seed: int) -> Desk:
    return Desk(Pen(ENGLISH, Random(seed)))  # noqa: S311 no secret


@pytest.mark.parametrize("drafting", [draft_single, draft_update])
def test_nobody_else_says_the_value_that_is_asked_for(drafting: Drafting) -> None:
    for seed in range(150):
        draft = drafting(a_desk(seed), is_abstention=False)
        value = re.compile(rf"(?<!\w){re.escape(str(draft.answer))}(?!\w)")

        assert value.search(draft.evidence[-1][1].fact)
        assert not [said.fact for said in draft.decoys if value.search(said.fact)]


def test_days_between_two_events_are_those_between_their_dates() -> None:
    checked = 0
    for seed in range(2000):
        draft = draft_temporal(a_desk(seed), is_abstention=False)
        asks_for_days = str(draft.answer).split()[1:2] == ["days"] and len(draft.evidence) == 2
        told_at_once = all(
            any(word in said.fact for word in ON_THE_DAY) for _, said in draft.evidence
        )
        if asks_for_days and told_at_once:
            first, second = (at.date() for at, _ in draft.evidence)
            assert draft.answer == (
                f"{(second - first).days} days ({(second - first).days + 1} days "
                "if the last day is counted as well)"
            )
            checked += 1
    assert checked > 3


def test_days_since_an_event_are_those_until_the_question() -> None:
    checked = 0
    for seed in range(400):
        draft = draft_temporal(a_desk(seed), is_abstention=False)
        [(at, said), *others] = draft.evidence
        is_counted = str(draft.answer).split()[1:2] == ["days"] and not others
        if is_counted and any(word in said.fact for word in ON_THE_DAY):
            assert str(draft.answer).startswith(f"{(draft.asked_on - at.date()).days} days")
            checked += 1
    assert checked > 3


@pytest.mark.parametrize(
    ("days_later", "phrases"),
    [
        (0, {"today", "this morning", "a few hours ago", "on May 3"}),
        (1, {"yesterday", "last night", "on May 3"}),
        (4, {"4 days ago", "last Wednesday", "on May 3"}),
    ],
)
def test_a_day_is_said_as_from_the_day_it_is_told(days_later: int, phrases: set[str]) -> None:
    said = {when(a_desk(seed), date(2023, 5, 3), days_later) for seed in range(60)}

    assert said == phrases
