import pytest

from memory_server.domain.account import PrincipalKind
from memory_server.errors import LimitExceeded
from memory_server.ports.agent import Badge
from memory_server.services.executions import (
    Execution,
    Executions,
    ExecutionStatus,
    MemoryIdentity,
)
from tests.clock import CountingIds, ManualClock


@pytest.fixture
def executions(clock: ManualClock, ids: CountingIds) -> Executions:
    return Executions(clock=clock, ids=ids, most=2)


def begin(executions: Executions, user: str = "ana") -> Execution:
    identity = MemoryIdentity(kind=PrincipalKind.OWNER, user_id=user)
    return executions.begin(project_id="p", identity=identity, session_id="s1", workspace="main")


def test_an_execution_is_found_by_its_id_alone(executions: Executions) -> None:
    execution = begin(executions)

    assert executions.find(execution.id) == execution
    assert executions.find("another") is None


def test_the_oldest_that_ended_makes_room(executions: Executions) -> None:
    first, second = begin(executions), begin(executions)
    executions.finish(second.id, ExecutionStatus.COMPLETED)

    third = begin(executions)

    assert executions.find(second.id) is None
    assert {executions.find(first.id), executions.find(third.id)} == {first, third}


def test_too_many_that_run_are_refused(executions: Executions) -> None:
    begin(executions)
    begin(executions)

    with pytest.raises(LimitExceeded, match="2 executions"):
        begin(executions)


def test_the_first_end_counts(executions: Executions, clock: ManualClock) -> None:
    execution = begin(executions)
    executions.finish(execution.id, ExecutionStatus.FAILED, error_code="AGENT_ENDED")
    clock.advance(5)

    ended = executions.finish(execution.id, ExecutionStatus.COMPLETED)

    assert ended is not None
    assert (ended.status, ended.error_code) == (ExecutionStatus.FAILED, "AGENT_ENDED")
    assert ended.ended_at == execution.started_at


def test_a_badge_opens_only_while_its_process_works(executions: Executions) -> None:
    execution, badge = begin(executions), Badge()
    executions.admit(badge)
    before = executions.of_badge(badge.token)
    badge.execution_id = execution.id
    during = executions.of_badge(badge.token)
    executions.finish(execution.id, ExecutionStatus.COMPLETED)

    assert (before, during) == (None, execution)
    assert executions.of_badge(badge.token) is None
    assert executions.is_badge(badge.token)


def test_a_badge_that_was_expelled_is_none(executions: Executions) -> None:
    execution, badge = begin(executions), Badge()
    badge.execution_id = execution.id
    executions.admit(badge)

    executions.expel(badge)

    assert not executions.is_badge(badge.token)
    assert executions.of_badge(badge.token) is None


def test_a_badge_does_not_show_its_token() -> None:
    badge = Badge()

    assert badge.token not in repr(badge)
