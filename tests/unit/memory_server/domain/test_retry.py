from datetime import timedelta

import pytest

from memory_server import errors
from memory_server.domain.retry import RetryPolicy

POLICY = RetryPolicy()
DAY = timedelta(hours=24)


def test_failure_of_the_content_is_not_retried() -> None:
    assert POLICY.delay(errors.InvalidAnswer(), attempts=1) is None


def test_attempts_are_bounded_where_time_does_not_heal() -> None:
    last = POLICY.max_attempts

    assert POLICY.delay(errors.VersionConflict(), attempts=last) is None
    assert POLICY.delay(errors.VersionConflict(), attempts=last - 1) is not None


def waits(error: errors.MemoryServerError) -> list[timedelta]:
    """Return every wait of a job that fails in the same way until it is given up."""
    found: list[timedelta] = []
    while (wait := POLICY.delay(error, attempts=len(found) + 1)) is not None:
        found.append(wait)
    return found


@pytest.mark.parametrize(
    ("error", "longest"),
    [
        (errors.ProviderUnavailable(), timedelta(minutes=5)),
        (errors.StorageUnavailable(), timedelta(minutes=5)),
        (errors.StorageFull(), timedelta(minutes=5)),
        (errors.ProviderRateLimited(), timedelta(minutes=10)),
        (errors.KeyRejected(), timedelta(minutes=30)),
        (errors.KeyMissing(), timedelta(minutes=30)),
    ],
)
def test_outage_of_a_day_is_survived(error: errors.MemoryServerError, longest: timedelta) -> None:
    found = waits(error)

    assert DAY <= sum(found, timedelta()) <= DAY + longest
    assert max(found) == found[-1] == longest


def test_job_that_is_younger_than_its_patience_is_not_given_up() -> None:
    attempts = len(waits(errors.KeyRejected())) + 1

    assert POLICY.delay(errors.KeyRejected(), attempts=attempts, age=DAY * 0.9) is not None


def test_job_that_waited_long_for_its_first_attempt_is_not_given_up_at_once() -> None:
    assert POLICY.delay(errors.ProviderUnavailable(), attempts=1, age=DAY * 3) is not None


@pytest.mark.parametrize(
    ("error", "first"),
    [
        (errors.ProviderUnavailable(), timedelta(seconds=2)),
        (errors.StorageUnavailable(), timedelta(seconds=2)),
        (errors.ProviderRateLimited(), timedelta(seconds=15)),
        (errors.KeyRejected(), timedelta(minutes=2)),
        (errors.KeyMissing(), timedelta(minutes=2)),
    ],
)
def test_pace_follows_the_cause(error: errors.MemoryServerError, first: timedelta) -> None:
    assert POLICY.delay(error, attempts=1) == first
    assert POLICY.delay(error, attempts=2) == first * 2


def test_backoff_has_a_longest_wait() -> None:
    assert POLICY.delay(errors.ProviderUnavailable(), attempts=90) == timedelta(minutes=5)


def test_provider_that_says_when_is_waited_for() -> None:
    error = errors.ProviderRateLimited(retry_after=90)

    assert POLICY.delay(error, attempts=1) == timedelta(seconds=90)


@pytest.mark.parametrize("asked", [3601, 1e12, 10**400, float("inf")])
def test_no_provider_is_waited_for_longer_than_an_hour(asked: float) -> None:
    error = errors.ProviderRateLimited(retry_after=asked)

    assert POLICY.delay(error, attempts=1) == timedelta(hours=1)


@pytest.mark.parametrize("asked", [None, "soon", float("nan"), -5, 0])
def test_wait_that_is_none_leaves_the_pace(asked: object) -> None:
    error = errors.ProviderRateLimited(retry_after=asked)

    assert POLICY.delay(error, attempts=1) == timedelta(seconds=15)
