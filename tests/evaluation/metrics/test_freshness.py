import pytest

from evaluation.metrics.freshness import fresh_over_stale

FRESH, STALE = {"new"}, {"old"}


@pytest.mark.parametrize(
    ("ranking", "value"),
    [
        ([("x",), ("new",), ("old",)], 1.0),
        ([("x",), ("new",)], 1.0),
        ([("old",), ("new",)], 0.0),
        ([("x",), ("x",)], 0.0),
        ([("old", "new")], 0.0),
        ([("x",), ("x",), ("x",), ("new",)], 0.0),
    ],
)
def test_fresh_has_to_be_found_and_before_stale(ranking: list[tuple[str]], value: float) -> None:
    assert fresh_over_stale(ranking, FRESH, STALE, k=3) == value
