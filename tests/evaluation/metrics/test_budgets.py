import pytest

from evaluation.metrics.budgets import items_within


@pytest.mark.parametrize(
    ("tokens", "budget", "items"),
    [
        ([100, 100, 100], 250, 2),
        ([100, 100], 200, 2),
        ([300, 10], 250, 0),
        ([100, 300, 10], 250, 1),
    ],
)
def test_a_budget_is_filled_from_the_top_until_something_does_not_fit(
    tokens: list[int], budget: int, items: int
) -> None:
    assert items_within(tokens, budget) == items
