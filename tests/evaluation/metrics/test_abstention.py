import pytest

from evaluation.metrics.abstention import score_gap, separation


def test_the_gap_is_between_the_means() -> None:
    assert score_gap([0.9, 0.7], [0.5]) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "value"),
    [([0.9, 0.8], [0.1], 1.0), ([0.5], [0.5], 0.5), ([0.9, 0.1], [0.5], 0.5), ([0.1], [0.2], 0.0)],
)
def test_separation_is_the_share_of_pairs_in_the_right_order(
    answerable: list[float], unanswerable: list[float], value: float
) -> None:
    assert separation(answerable, unanswerable) == value
