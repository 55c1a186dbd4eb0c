from datetime import timedelta

import pytest

from memory_server import errors
from memory_server.domain.circuit import FAILURES, Admission, Circuit, CircuitState
from memory_server.domain.retry import RetryPolicy
from tests.clock import START

POLICY = RetryPolicy()
AWAY = errors.ProviderUnavailable("away")
SECOND = timedelta(seconds=1)


def failing(
    error: errors.MemoryServerError = AWAY,
    *,
    times: int = FAILURES,
    circuit: Circuit | None = None,
) -> Circuit:
    circuit = circuit or Circuit()
    for _ in range(times):
        circuit = circuit.failed(error, now=START, policy=POLICY)
    return circuit


def probed(circuit: Circuit) -> Circuit:
    """Let the next call through that is due."""
    assert circuit.opening is not None
    circuit, admission = circuit.admit(circuit.opening.probe_at)
    assert admission is Admission.PROBE
    return circuit


def test_calls_go_through_until_so_many_failed_in_a_row() -> None:
    circuit = failing(times=FAILURES - 1)

    assert circuit.admit(START) == (circuit, Admission.FREE)
    assert failing(times=1, circuit=circuit).admit(START)[1] is None


def test_a_call_that_goes_well_begins_the_count_anew() -> None:
    circuit = failing(times=FAILURES - 1).worked()

    assert failing(times=FAILURES - 1, circuit=circuit).state(START) is CircuitState.CLOSED


@pytest.mark.parametrize(
    "error", [errors.Refused(), errors.InvalidAnswer(), errors.InputTooLong()], ids=repr
)
def test_a_failure_of_the_content_says_that_the_provider_answers(
    error: errors.MemoryServerError,
) -> None:
    assert failing(times=1, circuit=failing(times=FAILURES - 1)).opening is not None
    assert failing(error, times=1, circuit=failing(times=FAILURES - 1)) == Circuit()
    assert failing(error, times=1, circuit=probed(failing())) == Circuit()


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (errors.KeyRejected(), 120),
        (errors.KeyMissing(), 120),
        (errors.ModelNotFound(), 120),
        (errors.ProviderRateLimited(retry_after=40.0), 40),
        (errors.ProviderRateLimited(retry_after=1.0), 15),
        (errors.ProviderUnavailable(retry_after=90.0), 90),
        (errors.ProviderUnavailable(retry_after=10**9), 3600),
    ],
    ids=repr,
)
def test_what_no_other_call_would_change_opens_it_at_once_and_for_as_long_as_the_cause_asks(
    error: errors.MemoryServerError, seconds: int
) -> None:
    opening = failing(error, times=1).opening

    assert opening is not None
    assert opening.probe_at - START == timedelta(seconds=seconds)


def test_one_call_alone_is_let_through_when_the_pause_is_over() -> None:
    circuit = failing()
    assert circuit.opening is not None
    due = circuit.opening.probe_at

    assert circuit.admit(due - SECOND)[1] is None
    probing, admission = circuit.admit(due)

    assert admission is Admission.PROBE
    assert probing.admit(due + timedelta(days=1)) == (probing, None)
    assert probing.state(due) is CircuitState.HALF_OPEN


def test_a_probe_that_called_nobody_leaves_its_place_to_another() -> None:
    circuit = probed(failing()).unused()

    assert probed(circuit).opening is not None


def test_a_probe_that_goes_well_closes_it() -> None:
    assert probed(failing()).worked() == Circuit()


def test_every_probe_that_fails_is_followed_by_a_longer_pause_up_to_the_longest() -> None:
    circuit = failing()
    pauses = []
    for _ in range(12):
        assert circuit.opening is not None
        pauses.append(circuit.opening.probe_at - START)
        circuit = failing(times=1, circuit=probed(circuit))

    assert pauses[:4] == [timedelta(seconds=seconds) for seconds in (2, 4, 8, 16)]
    assert max(pauses) == pauses[-1] == timedelta(minutes=5)


def test_it_tells_since_when_it_is_open_however_often_it_is_probed() -> None:
    circuit = probed(failing())
    later = START + timedelta(hours=1)

    opening = circuit.failed(AWAY, now=later, policy=POLICY).opening

    assert opening is not None
    assert (opening.since, opening.cause) == (START, AWAY)
    assert opening.probe_at > later


def test_failures_of_calls_from_before_change_nothing() -> None:
    circuit = failing()

    assert failing(errors.KeyRejected(), circuit=circuit, times=3) == circuit


def test_a_call_from_before_that_goes_well_closes_it() -> None:
    assert failing().worked() == Circuit()
