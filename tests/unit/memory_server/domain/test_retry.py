from datetime import timedelta

import pytest

from memory_server import errors
from memory_server.domain.retry import RetryPolicy

POLICY = RetryPolicy()


def test_failure_of_the_content_is_not_retried() -> None:
    assert POLICY.delay(errors.InvalidAnswer(), attempts=1) is None


def test_attempts_are_bounded() -> None:
    last = POLICY.max_attempts

    assert POLICY.delay(errors.ProviderUnavailable(), attempts=last) is None
    assert POLICY.delay(errors.ProviderUnavailable(), attempts=last - 1) is not None


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
    policy = RetryPolicy(max_attempts=100)

    assert policy.delay(errors.ProviderUnavailable(), attempts=90) == timedelta(minutes=5)


def test_provider_that_says_when_is_waited_for() -> None:
    error = errors.ProviderRateLimited(retry_after=90)

    assert POLICY.delay(error, attempts=1) == timedelta(seconds=90)
