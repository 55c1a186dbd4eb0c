import random

import pytest

from evaluation.metrics.intervals import bootstrap, cluster_bootstrap, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe 1998, table I.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(
    successes: int, n: int, low: float, high: float
) -> None:
    interval = wilson(successes, n)

    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_the_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    chance = random.Random(1)  # noqa: S311 - the same values each time
    values = [chance.gauss(0.5, 0.2) for _ in range(400)]

    interval = bootstrap(values)

    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.2 / 20, rel=0.15)


def test_the_same_values_give_the_same_interval() -> None:
    assert bootstrap([0.0, 0.5, 1.0]) == bootstrap([0.0, 0.5, 1.0])


def test_questions_that_stand_or_fall_together_make_a_wider_interval() -> None:
    values = [float(n < 50) for n in range(100)]
    clusters = [n // 25 for n in range(100)]

    together = cluster_bootstrap(values, clusters)
    alone = bootstrap(values)

    assert together is not None
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_a_cluster_for_each_value_is_as_no_clusters() -> None:
    values = [0.1, 0.4, 0.4, 0.9, 0.3]

    together = cluster_bootstrap(values, range(5))

    assert together is not None
    assert together.low == pytest.approx(bootstrap(values).low)
    assert together.high == pytest.approx(bootstrap(values).high)


def test_one_cluster_tells_nothing_of_another() -> None:
    assert cluster_bootstrap([0.1, 0.9], ["c", "c"]) is None


def test_a_share_of_nothing_has_no_interval() -> None:
    with pytest.raises(ValueError, match="without outcomes"):
        wilson(0, 0)
