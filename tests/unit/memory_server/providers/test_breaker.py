import logging

import pytest

from memory_server.domain.circuit import FAILURES, Admission
from memory_server.domain.retry import RetryPolicy
from memory_server.errors import KeyRejected, ProviderRateLimited, ProviderUnavailable
from memory_server.providers.breaker import ProviderBreaker
from tests.clock import ManualClock


@pytest.fixture
def breaker(clock: ManualClock) -> ProviderBreaker:
    return ProviderBreaker(
        purpose="extraction", provider="openai", clock=clock, policy=RetryPolicy()
    )


def fail(breaker: ProviderBreaker, times: int = FAILURES) -> None:
    for _ in range(times):
        breaker.failed(ProviderUnavailable("The model cannot be reached."))


def test_nothing_is_told_of_a_provider_that_answers(breaker: ProviderBreaker) -> None:
    fail(breaker, FAILURES - 1)

    assert breaker.told() is None
    assert breaker.report() == {}
    assert breaker.admit() is Admission.FREE


def test_an_open_circuit_is_told_with_since_when_until_when_why_and_what_to_do(
    breaker: ProviderBreaker, clock: ManualClock
) -> None:
    fail(breaker)

    assert breaker.told() == (
        "provider openai: circuit open since 2026-01-31 12:00:00 UTC, next probe at "
        "2026-01-31 12:00:02 UTC, because The model cannot be reached; nothing is lost and it "
        "goes on by itself; if it lasts, look at the provider, and at base_url"
    )
    assert breaker.report() == {
        "state": "open",
        "since": "2026-01-31T12:00:00+00:00",
        "next_probe": "2026-01-31T12:00:02+00:00",
        "because": "The model cannot be reached",
        "code": "PROVIDER_UNAVAILABLE",
        "to_do": "nothing is lost and it goes on by itself; if it lasts, look at the provider, "
        "and at base_url",
    }

    clock.advance(2)
    assert "next probe with the next call" in str(breaker.told())
    assert breaker.admit() is Admission.PROBE
    assert "next probe under way" in str(breaker.told())
    assert breaker.report()["state"] == "half-open"


def test_each_cause_has_a_remedy_of_its_own(breaker: ProviderBreaker) -> None:
    breaker.failed(KeyRejected("The key was rejected."))
    assert "store a valid key" in str(breaker.told())

    breaker.worked()
    breaker.failed(ProviderRateLimited("Fewer, please.", retry_after=5.0))
    assert "memory.extraction.budget" in str(breaker.told())


def test_only_the_probe_that_is_given_back_makes_room_for_another(
    breaker: ProviderBreaker, clock: ManualClock
) -> None:
    fail(breaker)
    clock.advance(2)
    assert breaker.admit() is Admission.PROBE

    breaker.give_back(Admission.FREE)
    assert breaker.admit() is None

    breaker.give_back(Admission.PROBE)
    assert breaker.admit() is Admission.PROBE


def test_it_is_logged_once_that_it_opens_and_once_that_it_closes(
    breaker: ProviderBreaker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    fail(breaker, FAILURES + 3)
    breaker.worked()
    breaker.worked()

    opened, closed = [record.getMessage() for record in caplog.records]
    assert opened.startswith("extraction provider openai: circuit open since")
    assert closed == "extraction provider openai answers again: circuit closed"
