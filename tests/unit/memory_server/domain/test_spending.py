from datetime import UTC, datetime

import pytest

from memory_server.domain.spending import Budget, Usage, day_of, hour_of, next_hour

NOON = datetime(2026, 1, 31, 14, 20, 5, 7, tzinfo=UTC)


def test_usage_adds_up_and_none_of_it_is_false() -> None:
    usage = Usage(calls=1, input_tokens=10) + Usage(calls=2, output_tokens=5)

    assert usage == Usage(calls=3, input_tokens=10, output_tokens=5)
    assert usage.tokens == 15
    assert not Usage()


def test_usage_reads_what_a_document_tells() -> None:
    assert Usage.of({"calls": 2, "raw": "x", "input_tokens": None}) == Usage(calls=2)


@pytest.mark.parametrize(
    ("budget", "usage", "told"),
    [
        (Budget(), Usage(calls=10**9), None),
        (Budget(calls=100), Usage(calls=99, input_tokens=10**9), None),
        (
            Budget(calls=100),
            Usage(calls=100),
            "budget of 100 calls an hour is spent (100 of 100), goes on at 15:00 UTC",
        ),
        (
            Budget(tokens=500),
            Usage(calls=1, input_tokens=400, output_tokens=120),
            "budget of 500 tokens an hour is spent (520 of 500), goes on at 15:00 UTC",
        ),
        (
            Budget(calls=1, tokens=10),
            Usage(calls=1, input_tokens=10),
            "budget of 1 calls an hour is spent (1 of 1), budget of 10 tokens an hour is spent "
            "(10 of 10), goes on at 15:00 UTC",
        ),
    ],
)
def test_a_spent_budget_says_how_much_and_when_it_goes_on(
    budget: Budget, usage: Usage, told: str | None
) -> None:
    assert budget.spent(usage, NOON) == told


def test_hours_and_days_are_those_of_the_clock() -> None:
    assert hour_of(NOON) == datetime(2026, 1, 31, 14, tzinfo=UTC)
    assert next_hour(NOON.replace(hour=23)) == datetime(2026, 2, 1, tzinfo=UTC)
    assert day_of(NOON) == datetime(2026, 1, 31, tzinfo=UTC)
