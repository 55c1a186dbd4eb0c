import asyncio

import pytest

from memory_server.domain.account import PrincipalKind
from memory_server.domain.execution import (
    SERVER_GONE,
    Execution,
    ExecutionStatus,
    MemoryIdentity,
)
from memory_server.domain.server import ALIVE
from memory_server.errors import LimitExceeded, StorageUnavailable
from memory_server.ports.agent import Badge
from memory_server.ports.store import Store
from memory_server.services.executions import KEPT, ExecutionKeeping
from tests.clock import CountingIds, ManualClock
from tests.factories import a_scope


@pytest.fixture
def executions(store: Store, clock: ManualClock, ids: CountingIds) -> ExecutionKeeping:
    return ExecutionKeeping(
        executions=store.executions, clock=clock, ids=ids, server_id="here", most=2
    )


@pytest.fixture
def elsewhere(store: Store, clock: ManualClock, ids: CountingIds) -> ExecutionKeeping:
    """Another server over the same store."""
    return ExecutionKeeping(executions=store.executions, clock=clock, ids=ids, server_id="there")


async def begin(executions: ExecutionKeeping, user: str = "ana") -> Execution:
    identity = MemoryIdentity(kind=PrincipalKind.OWNER, user_id=user)
    return await executions.begin(
        project_id="shop", identity=identity, session_id="s1", workspace="main"
    )


class Work:
    """Something that runs until it is stopped."""

    def __init__(self, executions: ExecutionKeeping, execution: Execution) -> None:
        self.is_stopped = False
        task = asyncio.ensure_future(asyncio.sleep(0))
        executions.attach(execution.id, self._stop, task)

    def _stop(self) -> None:
        self.is_stopped = True


async def test_an_execution_is_found_by_its_id_alone_on_every_server(
    executions: ExecutionKeeping, elsewhere: ExecutionKeeping
) -> None:
    execution = await begin(executions)

    assert await executions.find(execution.id) == execution
    assert await elsewhere.find(execution.id) == execution
    assert await executions.find("another") is None


async def test_too_many_that_run_are_refused_until_one_has_ended(
    executions: ExecutionKeeping,
) -> None:
    first = await begin(executions)
    await begin(executions)

    with pytest.raises(LimitExceeded, match="2 executions"):
        await begin(executions)
    await executions.finish(first.id, ExecutionStatus.COMPLETED)
    await begin(executions)


async def test_the_first_end_counts(executions: ExecutionKeeping, clock: ManualClock) -> None:
    execution = await begin(executions)
    await executions.finish(execution.id, ExecutionStatus.FAILED, error_code="AGENT_ENDED")
    clock.advance(5)

    ended = await executions.finish(execution.id, ExecutionStatus.COMPLETED)

    assert ended is not None
    assert (ended.status, ended.error_code) == (ExecutionStatus.FAILED, "AGENT_ENDED")
    assert ended.ended_at == execution.started_at


async def test_what_was_cancelled_on_another_server_is_stopped_by_its_own(
    executions: ExecutionKeeping, elsewhere: ExecutionKeeping
) -> None:
    execution, other = await begin(executions), await begin(executions)
    work, kept = Work(executions, execution), Work(executions, other)

    ended = await elsewhere.cancel(execution.id)
    before = work.is_stopped
    await executions.look_after()

    assert ended is not None
    assert ended.status is ExecutionStatus.CANCELLED
    assert (before, work.is_stopped, kept.is_stopped) == (False, True, False)


async def test_what_runs_for_an_erased_user_is_stopped(
    executions: ExecutionKeeping, store: Store
) -> None:
    execution = await begin(executions)
    work = Work(executions, execution)

    counts = await store.erase(a_scope())
    await executions.look_after()

    assert (counts["executions"], work.is_stopped) == (1, True)
    assert await executions.find(execution.id) is None


async def test_an_end_that_cannot_be_noted_is_noted_when_the_store_is_back(
    executions: ExecutionKeeping, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StorageUnavailable

    execution = await begin(executions)
    with monkeypatch.context() as patched:
        patched.setattr(store.executions, "finish", away)
        await executions.settle(execution.id, ExecutionStatus.COMPLETED)
    meanwhile = await executions.find(execution.id)
    await executions.look_after()
    ended = await executions.find(execution.id)

    assert meanwhile is not None
    assert ended is not None
    assert (meanwhile.status, ended.status) == (ExecutionStatus.RUNNING, ExecutionStatus.COMPLETED)


async def test_what_a_server_left_behind_that_is_gone_is_told_as_failed(
    executions: ExecutionKeeping, elsewhere: ExecutionKeeping, clock: ManualClock
) -> None:
    left, mine = await begin(elsewhere), await begin(executions)
    await executions.tidy(alive=["here"])
    clock.advance(by=ALIVE * 2)
    await executions.tidy(alive=None)
    not_yet = await executions.find(left.id)
    await executions.tidy(alive=["here"])

    ended, running = await executions.find(left.id), await executions.find(mine.id)
    assert (not_yet, running) == (left, mine)
    assert ended is not None
    assert (ended.status, ended.error_code) == (ExecutionStatus.FAILED, SERVER_GONE)


async def test_an_execution_is_known_for_a_day(
    executions: ExecutionKeeping, clock: ManualClock
) -> None:
    execution = await begin(executions)
    await executions.finish(execution.id, ExecutionStatus.COMPLETED)
    clock.advance(by=KEPT)
    await executions.tidy(alive=["here"])
    still = await executions.find(execution.id)
    clock.advance(1)
    await executions.tidy(alive=["here"])

    assert still is not None
    assert await executions.find(execution.id) is None


async def test_a_badge_opens_only_while_its_process_works(executions: ExecutionKeeping) -> None:
    execution, badge = await begin(executions), Badge()
    executions.admit(badge)
    before = executions.of_badge(badge.token)
    badge.execution_id = execution.id
    during = executions.of_badge(badge.token)
    await executions.finish(execution.id, ExecutionStatus.COMPLETED)

    assert (before, during) == (None, execution)
    assert executions.of_badge(badge.token) is None
    assert executions.is_badge(badge.token)


async def test_a_badge_that_was_expelled_is_none(executions: ExecutionKeeping) -> None:
    execution, badge = await begin(executions), Badge()
    badge.execution_id = execution.id
    executions.admit(badge)

    executions.expel(badge)

    assert not executions.is_badge(badge.token)
    assert executions.of_badge(badge.token) is None


def test_a_badge_does_not_show_its_token() -> None:
    badge = Badge()

    assert badge.token not in repr(badge)
