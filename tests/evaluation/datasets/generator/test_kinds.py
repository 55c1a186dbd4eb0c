import re
from collections import Counter
from datetime import date, datetime, timedelta
from random import Random

import pytest

from evaluation.datasets.generator.drafts import Desk
from evaluation.datasets.generator.grammar import read_grammar
from evaluation.datasets.generator.kinds import Drafting, draft_single, draft_update
from evaluation.datasets.generator.pen import Pen
from evaluation.datasets.generator.temporal import draft_temporal, when

ENGLISH = read_grammar("english")
SAID = {"today": 0, "this morning": 0, "a few hours ago": 0, "yesterday": 1, "last night": 1}


def a_desk(seed: int) -> Desk:
    return Desk(Pen(ENGLISH, Random(seed)))  # noqa: S311 no secret


@pytest.mark.parametrize("drafting", [draft_single, draft_update])
def test_nobody_else_says_the_value_that_is_asked_for(drafting: Drafting) -> None:
    for seed in range(150):
        draft = drafting(a_desk(seed), is_abstention=False)
        value = re.compile(rf"(?<!\w){re.escape(str(draft.answer))}(?!\w)")

        assert value.search(draft.evidence[-1][1].fact)
        assert not [said.fact for said in draft.decoys if value.search(said.fact)]


def happened(at: datetime, fact: str) -> date | None:
    """Return the day of what was told, where it is told in words that can be reckoned."""
    days = next((days for word, days in SAID.items() if word in fact), None)
    if found := re.search(r"(\d) days ago", fact):
        days = int(found[1])
    return None if days is None else at.date() - timedelta(days=days)


def test_days_between_two_events_and_since_one_are_those_between_their_dates() -> None:
    checked = Counter[int]()
    for seed in range(400):
        draft = draft_temporal(a_desk(seed), is_abstention=False)
        days = [happened(at, said.fact) for at, said in draft.evidence]
        if str(draft.answer).split()[1:2] != ["days"] or None in days:
            continue
        # Which was told first need not have been first.
        first, second = [*sorted(day for day in days if day), draft.asked_on][:2]
        between = (second - first).days

        assert draft.answer == (
            f"{between} days ({between + 1} days if the last day is counted as well)"
        )
        checked[len(days)] += 1

    assert min(checked[1], checked[2]) > 5


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
